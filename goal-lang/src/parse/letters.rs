//! Letters that names can't have, in letters that they can have.

/// Returns a letter in the spelling of names: without marks, or as two letters. Returns `_` for
/// other letters outside of ASCII.
pub(super) fn in_ascii(letter: char) -> String {
    let spelling = match letter {
        c if c.is_ascii() => return c.to_string(),
        'ä' | 'æ' => "ae",
        'ö' | 'ø' | 'œ' => "oe",
        'ü' => "ue",
        'Ä' | 'Æ' => "Ae",
        'Ö' | 'Ø' | 'Œ' => "Oe",
        'Ü' => "Ue",
        'ß' => "ss",
        'à'..='å' => "a",
        'À'..='Å' => "A",
        'ç' => "c",
        'Ç' => "C",
        'è'..='ë' => "e",
        'È'..='Ë' => "E",
        'ì'..='ï' => "i",
        'Ì'..='Ï' => "I",
        'ñ' => "n",
        'Ñ' => "N",
        'ò'..='õ' => "o",
        'Ò'..='Õ' => "O",
        'ù'..='û' => "u",
        'Ù'..='Û' => "U",
        'ý' | 'ÿ' => "y",
        'Ý' => "Y",
        _ => "_",
    };
    spelling.to_owned()
}
