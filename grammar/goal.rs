// auto-generated: "lalrpop 0.23.2"
// sha3: 23c5ef4c36cc32058aaa832f94ae1feac0ded303559cce06aae4da2a6fbcef76
// features: 
use crate::lexer::{Plain, PlainDependency, Token};
use crate::parse::{Builder, DependencyKind, Peer};
use crate::relative::Sign;
use crate::Space;
#[allow(unused_extern_crates)]
extern crate lalrpop_util as __lalrpop_util;
#[allow(unused_imports)]
use self::__lalrpop_util::state_machine as __state_machine;
#[allow(unused_extern_crates)]
extern crate alloc;

#[rustfmt::skip]
#[allow(explicit_outlives_requirements, non_snake_case, non_camel_case_types, unused_mut, unused_variables, unused_imports, unused_parens, clippy::needless_lifetimes, clippy::type_complexity, clippy::needless_return, clippy::too_many_arguments, clippy::match_single_binding, clippy::clone_on_copy, clippy::unit_arg)]
mod __parse__Text {

    use crate::lexer::{Plain, PlainDependency, Token};
    use crate::parse::{Builder, DependencyKind, Peer};
    use crate::relative::Sign;
    use crate::Space;
    #[allow(unused_extern_crates)]
    extern crate lalrpop_util as __lalrpop_util;
    #[allow(unused_imports)]
    use self::__lalrpop_util::state_machine as __state_machine;
    #[allow(unused_extern_crates)]
    extern crate alloc;
    use super::__ToTriple;
    pub struct TextParser {
        _priv: (),
    }

    impl Default for TextParser { fn default() -> Self { Self::new() } }
    impl TextParser {
        pub fn new() -> TextParser {
            TextParser {
                _priv: (),
            }
        }

        #[allow(dead_code)]
        pub fn parse<
            'a,
            __TOKEN: __ToTriple<'a, >,
            __TOKENS: IntoIterator<Item=__TOKEN>,
        >(
            &self,
            builder: &mut Builder<'a>,
            __tokens0: __TOKENS,
        ) -> Result<(), __lalrpop_util::ParseError<usize, Token, &'static str>>
        {
            let __tokens = __tokens0.into_iter();
            let mut __tokens = __tokens.map(|t| __ToTriple::to_triple(t));
            let __lookahead = match __tokens.next() {
                Some(Ok(v)) => Some(v),
                Some(Err(e)) => return Err(e),
                None => None,
            };
            match __state0(builder, &mut __tokens, __lookahead, core::marker::PhantomData::<(&())>)? {
                (Some(__lookahead), _) => {
                    Err(__lalrpop_util::ParseError::ExtraToken { token: __lookahead })
                }
                (None, __Nonterminal::____Text((_, __nt, _))) => {
                    Ok(__nt)
                }
                _ => unreachable!(),
            }
        }
    }

    #[allow(dead_code)]
    enum __Nonterminal<>
     {
        _22_23_22_3f((usize, Option<Token>, usize)),
        _22_2c_22_3f((usize, Option<Token>, usize)),
        _28_29((usize, (), usize)),
        _40L((usize, usize, usize)),
        _40R((usize, usize, usize)),
        Attribute((usize, (), usize)),
        Attributes((usize, (), usize)),
        BlockEnd((usize, (), usize)),
        BlockHead((usize, (), usize)),
        Collective((usize, (), usize)),
        CollectiveName((usize, (usize, u32), usize)),
        DatumHead((usize, (), usize)),
        Declaration((usize, (), usize)),
        Dependency((usize, (), usize)),
        Item((usize, (), usize)),
        Items((usize, (), usize)),
        LabelDef((usize, (), usize)),
        Number((usize, (usize, u64), usize)),
        OpenVector((usize, (), usize)),
        Operand((usize, (), usize)),
        Operands((usize, (), usize)),
        Operation((usize, (), usize)),
        Payload((usize, (), usize)),
        Peer((usize, Peer, usize)),
        Piece((usize, (), usize)),
        Pieces((usize, (), usize)),
        Placement((usize, (), usize)),
        Placements((usize, (), usize)),
        RankList((usize, (), usize)),
        RankNumber((usize, (), usize)),
        RankNumbers((usize, (), usize)),
        Root((usize, Option<u32>, usize)),
        Statement((usize, (), usize)),
        Statements((usize, (), usize)),
        Text((usize, (), usize)),
        Value((usize, (), usize)),
        Values((usize, (), usize)),
        ____Text((usize, (), usize)),
    }

    fn __state0<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::StartBare, __loc2)) => {
                let __sym0 = (__loc1, (__tok), __loc2);
                __result = __state1(builder, __tokens, __sym0, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::StartBlocks, __loc2)) => {
                let __sym0 = (__loc1, (__tok), __loc2);
                __result = __state2(builder, __tokens, __sym0, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::StartInside, __loc2)) => {
                let __sym0 = (__loc1, (__tok), __loc2);
                __result = __state3(builder, __tokens, __sym0, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""blocks""###.to_string(),
                    r###""bare""###.to_string(),
                    r###""inside""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = Default::default();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Text(__sym0) => {
                    __result = __state46(builder, __tokens, __lookahead, __sym0, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state1<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym0.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action96::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Statements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                Default::default()
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym0.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Statements(__sym1) => {
                    __result = __state4(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state2<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym0.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action94::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Items((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                Default::default()
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym0.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Items(__sym1) => {
                    __result = __state5(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state3<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym0.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action96::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Statements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                Default::default()
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym0.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Statements(__sym1) => {
                    __result = __state6(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state4<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Semicolon, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state52(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Calc, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state53(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Coll, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state9(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Exec, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state54(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Expect, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state55(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Init, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state56(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nop, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state57(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Recv, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state10(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Requ, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state58(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Scratch, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state59(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Send, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state11(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Batch(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state60(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::LabelDef(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state61(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Nccl(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state12(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Plain(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state62(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::PlainDependency(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state63(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Waiter(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state64(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action2::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Text((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Collective(__sym2) => {
                    __result = __state47(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::DatumHead(__sym2) => {
                    __result = __state7(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Declaration(__sym2) => {
                    __result = __state48(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Dependency(__sym2) => {
                    __result = __state49(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::LabelDef(__sym2) => {
                    __result = __state8(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operation(__sym2) => {
                    __result = __state50(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Statement(__sym2) => {
                    __result = __state51(builder, __tokens, __lookahead, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state5<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Semicolon, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state67(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::NumRanks, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state68(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Rank, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state13(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action1::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Text((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::BlockHead(__sym2) => {
                    __result = __state65(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Item(__sym2) => {
                    __result = __state66(builder, __tokens, __lookahead, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state6<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Semicolon, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state52(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Calc, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state53(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Coll, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state9(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Exec, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state54(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Expect, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state55(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Init, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state56(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nop, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state57(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Recv, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state10(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Requ, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state58(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Scratch, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state59(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Send, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state11(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::CloseBrace, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state69(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Batch(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state60(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::LabelDef(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state61(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Nccl(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state12(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Plain(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state62(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::PlainDependency(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state63(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Waiter(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state64(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::BlockEnd(__sym2) => {
                    let __sym0 = __sym0.take().unwrap();
                    __result = __state14(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Collective(__sym2) => {
                    __result = __state47(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::DatumHead(__sym2) => {
                    __result = __state7(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Declaration(__sym2) => {
                    __result = __state48(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Dependency(__sym2) => {
                    __result = __state49(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::LabelDef(__sym2) => {
                    __result = __state8(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operation(__sym2) => {
                    __result = __state50(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Statement(__sym2) => {
                    __result = __state51(builder, __tokens, __lookahead, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state7<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym0.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action97::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Values((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                Default::default()
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym0.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Values(__sym1) => {
                    __result = __state15(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state8<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Calc, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state53(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Coll, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state9(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Exec, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state54(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nop, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state57(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Recv, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state10(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Send, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state11(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Nccl(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state12(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Collective(__sym1) => {
                    __result = __state47(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operation(__sym1) => {
                    __result = __state70(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state9<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state72(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"word"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::CollectiveName(__sym1) => {
                    __result = __state71(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state10<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Bytes(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state82(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"bytes"###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym1) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym1) => {
                    __result = __state77(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Payload(__sym1) => {
                    __result = __state78(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym1) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state11<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Bytes(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state82(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"bytes"###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym1) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym1) => {
                    __result = __state77(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Payload(__sym1) => {
                    __result = __state86(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym1) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state12<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym1) => {
                    __result = __state87(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state13<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Hash, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state95(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Star, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state96(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state97(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""*""###.to_string(),
                    r###""#""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::RankList(__sym1) => {
                    __result = __state92(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::RankNumber(__sym1) => {
                    __result = __state93(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::RankNumbers(__sym1) => {
                    __result = __state94(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state14<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym2.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action94::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Items((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        Default::default()
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym2.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Items(__sym3) => {
                    __result = __state19(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state15<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, (), usize)>,
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Float, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state99(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state100(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Negative, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state101(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state102(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action70::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Declaration((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Value(__sym2) => {
                    __result = __state98(builder, __tokens, __lookahead, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state16<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym1.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action95::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Placements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    Default::default()
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym1.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Placements(__sym2) => {
                    __result = __state20(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state17<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym1, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                Default::default()
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym0.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Piece(__sym1) => {
                    __result = __state106(builder, __tokens, __lookahead, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Pieces(__sym1) => {
                    __result = __state23(builder, __tokens, __lookahead, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state18<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym1.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action96::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Statements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    Default::default()
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym1.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Statements(__sym2) => {
                    __result = __state26(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state19<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, (), usize)>,
        __sym2: &mut Option<(usize, (), usize)>,
        __sym3: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Semicolon, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state67(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::NumRanks, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state68(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Rank, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state13(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action3::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::Text((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::BlockHead(__sym4) => {
                    __result = __state65(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Item(__sym4) => {
                    __result = __state66(builder, __tokens, __lookahead, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state20<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, u64, usize)>,
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Cpu, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state115(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nic, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state116(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action118::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Placement(__sym3) => {
                    __result = __state114(builder, __tokens, __lookahead, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state21<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (usize, u32), usize),
        __sym2: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym3) => {
                    __result = __state28(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state22<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        Default::default()
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym2.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym3) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym3) => {
                    __result = __state117(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operands(__sym3) => {
                    __result = __state30(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Piece(__sym3) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state23<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, (), usize)>,
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state31(builder, __tokens, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::CloseBracket, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                let __sym0 = __sym0.take().unwrap();
                __result = __state121(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"",""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Piece(__sym2) => {
                    __result = __state120(builder, __tokens, __lookahead, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state24<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Any, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state122(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state123(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Negative, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state124(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Relative(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state125(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""any""###.to_string(),
                    r###"relative"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Peer(__sym3) => {
                    __result = __state32(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state25<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Any, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state122(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state123(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Negative, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state124(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Relative(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state125(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""any""###.to_string(),
                    r###"relative"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Peer(__sym3) => {
                    __result = __state33(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state26<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, (), usize)>,
        __sym1: &mut Option<(usize, Token, usize)>,
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Semicolon, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state52(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Calc, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state53(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Coll, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state9(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Exec, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state54(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Expect, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state55(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Init, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state56(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nop, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state57(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Recv, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state10(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Requ, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state58(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Scratch, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state59(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Send, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state11(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::CloseBrace, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state69(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Batch(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state60(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::LabelDef(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state61(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Nccl(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state12(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Plain(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state62(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::PlainDependency(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state63(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Waiter(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state64(builder, __tokens, __sym3, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::BlockEnd(__sym3) => {
                    let __sym0 = __sym0.take().unwrap();
                    let __sym1 = __sym1.take().unwrap();
                    __result = __state129(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Collective(__sym3) => {
                    __result = __state47(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::DatumHead(__sym3) => {
                    __result = __state7(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Declaration(__sym3) => {
                    __result = __state48(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Dependency(__sym3) => {
                    __result = __state49(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::LabelDef(__sym3) => {
                    __result = __state8(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operation(__sym3) => {
                    __result = __state50(builder, __tokens, __lookahead, __sym3, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Statement(__sym3) => {
                    __result = __state51(builder, __tokens, __lookahead, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state27<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Hash, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state95(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state97(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""#""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::RankNumber(__sym2) => {
                    __result = __state130(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state28<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (usize, u32), usize),
        __sym2: (usize, u64, usize),
        __sym3: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym4 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym4) => {
                    __result = __state35(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state29<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, u64, usize),
        __sym3: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        let __sym3 = &mut Some(__sym3);
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym4 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym3.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                            Default::default()
                                        })
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym3.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym4) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym4) => {
                    __result = __state117(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operands(__sym4) => {
                    __result = __state36(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Piece(__sym4) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state30<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, u32, usize)>,
        __sym2: &mut Option<(usize, Token, usize)>,
        __sym3: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state37(builder, __tokens, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym4 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym4 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action119::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym4) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym4) => {
                    __result = __state133(builder, __tokens, __lookahead, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym4) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state31<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Piece(__sym2) => {
                    __result = __state134(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state32<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Peer, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        let __sym3 = &mut Some(__sym3);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym3.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action93::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Attributes((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym3.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                            Default::default()
                                        })
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym3.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Attributes(__sym4) => {
                    __result = __state38(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state33<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Peer, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        let __sym3 = &mut Some(__sym3);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym3.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action93::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Attributes((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym3.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                            Default::default()
                                        })
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym3.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Attributes(__sym4) => {
                    __result = __state39(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state34<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym4 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym4, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym4) => {
                    __result = __state137(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state35<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (usize, u32), usize),
        __sym2: (usize, u64, usize),
        __sym3: (usize, (usize, u64), usize),
        __sym4: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym5 = (__loc1, (__tok0), __loc2);
                __result = __state138(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Negative, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state139(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym4.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Root(__sym5) => {
                    __result = __state40(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state36<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, Token, usize)>,
        __sym2: &mut Option<(usize, u64, usize)>,
        __sym3: &mut Option<(usize, Token, usize)>,
        __sym4: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state37(builder, __tokens, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym5 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __sym3 = __sym3.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym4.2.clone();
                let __nt = super::__action120::<>(builder, __sym0, __sym1, __sym2, __sym3, __sym4);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym4.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym5) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym5, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym5) => {
                    __result = __state133(builder, __tokens, __lookahead, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym5) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym5, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state37<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym2) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym2) => {
                    __result = __state140(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym2) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state38<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, (), usize)>,
        __sym2: &mut Option<(usize, Token, usize)>,
        __sym3: &mut Option<(usize, Peer, usize)>,
        __sym4: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Cpu, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state115(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nic, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state116(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Tag, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state143(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::With, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state144(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __sym3 = __sym3.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym4.2.clone();
                let __nt = super::__action117::<>(builder, __sym0, __sym1, __sym2, __sym3, __sym4);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym4.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Attribute(__sym5) => {
                    __result = __state141(builder, __tokens, __lookahead, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Placement(__sym5) => {
                    __result = __state142(builder, __tokens, __lookahead, __sym5, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state39<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, (), usize)>,
        __sym2: &mut Option<(usize, Token, usize)>,
        __sym3: &mut Option<(usize, Peer, usize)>,
        __sym4: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Cpu, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state115(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nic, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state116(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Tag, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state143(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::With, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state144(builder, __tokens, __sym5, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __sym3 = __sym3.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym4.2.clone();
                let __nt = super::__action116::<>(builder, __sym0, __sym1, __sym2, __sym3, __sym4);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym4.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Attribute(__sym5) => {
                    __result = __state141(builder, __tokens, __lookahead, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Placement(__sym5) => {
                    __result = __state142(builder, __tokens, __lookahead, __sym5, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state40<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (usize, u32), usize),
        __sym2: (usize, u64, usize),
        __sym3: (usize, (usize, u64), usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Option<u32>, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __sym0 = &mut Some(__sym0);
        let __sym1 = &mut Some(__sym1);
        let __sym2 = &mut Some(__sym2);
        let __sym3 = &mut Some(__sym3);
        let __sym4 = &mut Some(__sym4);
        let __sym5 = &mut Some(__sym5);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __lookahead.as_ref().map(|o| o.0.clone()).unwrap_or_else(|| __sym5.as_ref().unwrap().2.clone());
                let __end = __start.clone();
                let __nt = super::__action95::<>(builder, &__start, &__end);
                let __nt = __Nonterminal::Placements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = 
                            __sym5.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                __sym4.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                    __sym3.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                        __sym2.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                            __sym1.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                                __sym0.as_ref().map(|sym| sym.2.clone()).unwrap_or_else(|| {
                                                    Default::default()
                                                })
                                            })
                                        })
                                    })
                                })
                            })
                            ;
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            if __sym5.is_none() {
                return Ok(__result);
            }
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Placements(__sym6) => {
                    __result = __state42(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state41<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym6 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym6, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym5.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym6) => {
                    __result = __state148(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state42<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: &mut Option<(usize, Token, usize)>,
        __sym1: &mut Option<(usize, (usize, u32), usize)>,
        __sym2: &mut Option<(usize, u64, usize)>,
        __sym3: &mut Option<(usize, (usize, u64), usize)>,
        __sym4: &mut Option<(usize, (usize, u64), usize)>,
        __sym5: &mut Option<(usize, Option<u32>, usize)>,
        __sym6: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Cpu, __loc2)) => {
                let __sym7 = (__loc1, (__tok), __loc2);
                __result = __state115(builder, __tokens, __sym7, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::Nic, __loc2)) => {
                let __sym7 = (__loc1, (__tok), __loc2);
                __result = __state116(builder, __tokens, __sym7, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __sym0 = __sym0.take().unwrap();
                let __sym1 = __sym1.take().unwrap();
                let __sym2 = __sym2.take().unwrap();
                let __sym3 = __sym3.take().unwrap();
                let __sym4 = __sym4.take().unwrap();
                let __sym5 = __sym5.take().unwrap();
                let __start = __sym0.0.clone();
                let __end = __sym6.2.clone();
                let __nt = super::__action103::<>(builder, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6);
                let __nt = __Nonterminal::Collective((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym6.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Placement(__sym7) => {
                    __result = __state114(builder, __tokens, __lookahead, __sym6, __sym7, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state43<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::At, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state80(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, __tok @ Token::OpenBracket, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state81(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state83(builder, __tokens, __sym2, core::marker::PhantomData::<(&())>)?;
            }
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action101::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::OpenVector(__sym2) => {
                    __result = __state17(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                __Nonterminal::Operand(__sym2) => {
                    __result = __state149(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                __Nonterminal::Piece(__sym2) => {
                    __result = __state79(builder, __tokens, __lookahead, __sym2, core::marker::PhantomData::<(&())>)?;
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state44<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        __sym7: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym8 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym8, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym7.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym8) => {
                    __result = __state150(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, __sym8, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state45<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        __sym7: (usize, Token, usize),
        __sym8: (usize, (usize, u64), usize),
        __sym9: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym10 = (__loc1, (__tok0), __loc2);
                __result = __state88(builder, __tokens, __sym10, core::marker::PhantomData::<(&())>)?;
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym9.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
        #[allow(clippy::never_loop)]
        loop {
            let (__lookahead, __nt) = __result;
            match __nt {
                __Nonterminal::Number(__sym10) => {
                    __result = __state151(builder, __tokens, __lookahead, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, __sym8, __sym9, __sym10, core::marker::PhantomData::<(&())>)?;
                    return Ok(__result);
                }
                _ => {
                    return Ok((__lookahead, __nt));
                }
            }
        }
    }

    fn __state46<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action0::<>(builder, __sym0);
                let __nt = __Nonterminal::____Text((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state47<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action33::<>(builder, __sym0);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state48<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action21::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state49<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action20::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state50<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action18::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state51<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action17::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Statements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state52<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action22::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state53<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state16(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state54<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::User, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state73(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state74(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""user""###.to_string(),
                    r###"word"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state55<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state75(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state56<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state76(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state57<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action121::<>(builder, __sym0);
                let __nt = __Nonterminal::Operation((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state58<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Name(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state84(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"name"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state59<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state85(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state60<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u8, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action25::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state61<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action113::<>(builder, __sym0);
                let __nt = __Nonterminal::LabelDef((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state62<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Plain, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action136::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state63<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, PlainDependency, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action137::<>(builder, __sym0);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state64<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Irequires, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state89(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, __tok @ Token::Requires, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state90(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""requires""###.to_string(),
                    r###""irequires""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state65<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::OpenBrace, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state18(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state66<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action5::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Items((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state67<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action8::<>(builder, __sym0);
                let __nt = __Nonterminal::Item((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state68<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state91(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state69<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action143::<>(builder, __sym0);
                let __nt = __Nonterminal::BlockEnd((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state70<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action19::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Statement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state71<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (usize, u32), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, Token::Bytes(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state21(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"bytes"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state72<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Bytes(_), _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action105::<>(builder, __sym0);
                let __nt = __Nonterminal::CollectiveName((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"bytes"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state73<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state103(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state74<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::With, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state22(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""with""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state75<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Equals, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state104(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""=""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state76<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Equals, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state105(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""=""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state77<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action41::<>(builder, __sym0);
                let __nt = __Nonterminal::Payload((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state78<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::From, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state24(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""from""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state79<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action60::<>(builder, __sym0);
                let __nt = __Nonterminal::Operand((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state80<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state107(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state81<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Int(_), _)) |
            Some((_, Token::At, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action115::<>(builder, __sym0);
                let __nt = __Nonterminal::OpenVector((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state82<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action122::<>(builder, __sym0);
                let __nt = __Nonterminal::Payload((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state83<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state108(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state84<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Arrow, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state109(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""->""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state85<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action108::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Declaration((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state86<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::To, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state25(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""to""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state87<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::ByteCount, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state110(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""bytes""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state88<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::ByteCount, _)) |
            Some((_, Token::Gpu, _)) |
            Some((_, Token::Stream, _)) |
            Some((_, Token::Seq, _)) |
            Some((_, Token::End, _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action114::<>(builder, __sym0);
                let __nt = __Nonterminal::Number((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""bytes""###.to_string(),
                    r###""gpu""###.to_string(),
                    r###""stream""###.to_string(),
                    r###""seq""###.to_string(),
                    r###""end""###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state89<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Name(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state111(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"name"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state90<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Name(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state112(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"name"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state91<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action112::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Item((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state92<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action144::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::BlockHead((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state93<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Comma, _)) |
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action12::<>(builder, __sym0);
                let __nt = __Nonterminal::RankNumbers((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state94<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state27(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action11::<>(builder, __sym0);
                let __nt = __Nonterminal::RankList((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state95<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state113(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state96<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action131::<>(builder, __sym0);
                let __nt = __Nonterminal::RankList((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state97<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Comma, _)) |
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action133::<>(builder, __sym0);
                let __nt = __Nonterminal::RankNumber((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state98<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action75::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Values((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state99<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action152::<>(builder, __sym0);
                let __nt = __Nonterminal::Value((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state100<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action150::<>(builder, __sym0);
                let __nt = __Nonterminal::Value((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state101<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action151::<>(builder, __sym0);
                let __nt = __Nonterminal::Value((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state102<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action153::<>(builder, __sym0);
                let __nt = __Nonterminal::Value((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state103<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::With, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state29(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""with""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state104<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state118(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"word"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state105<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state119(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"word"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state106<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBracket, _)) |
            Some((_, Token::At, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action63::<>(builder, __sym0);
                let __nt = __Nonterminal::Pieces((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"",""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state107<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Comma, __loc2)) => {
                let __sym2 = (__loc1, (__tok), __loc2);
                __result = __state126(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state108<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym2 = (__loc1, (__tok0), __loc2);
                __result = __state127(builder, __tokens, __sym0, __sym1, __sym2, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state109<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Name(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state128(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"name"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state110<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Comm, __loc2)) => {
                let __sym3 = (__loc1, (__tok), __loc2);
                __result = __state34(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""comm""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state111<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action110::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Dependency((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state112<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action109::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Dependency((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state113<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Comma, _)) |
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action132::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::RankNumber((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state114<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action55::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Placements((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state115<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state131(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state116<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state132(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state117<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action58::<>(builder, __sym0);
                let __nt = __Nonterminal::Operands((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state118<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action107::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::DatumHead((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state119<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Word(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Negative, _)) |
            Some((_, Token::Float, _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action106::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::DatumHead((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"word"###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                    r###"float"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state120<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBracket, _)) |
            Some((_, Token::At, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action92::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Pieces((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"",""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state121<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action145::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Operand((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state122<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action124::<>(builder, __sym0);
                let __nt = __Nonterminal::Peer((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state123<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action123::<>(builder, __sym0);
                let __nt = __Nonterminal::Peer((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state124<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action146::<>(builder, __sym0);
                let __nt = __Nonterminal::Peer((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state125<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Sign, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state135(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state126<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym3 = (__loc1, (__tok0), __loc2);
                __result = __state136(builder, __tokens, __sym0, __sym1, __sym2, __sym3, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state127<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::CloseBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action147::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Piece((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state128<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, u32, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action111::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::Dependency((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state129<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, (), usize),
        __sym3: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Rank, _)) |
            Some((_, Token::NumRanks, _)) |
            Some((_, Token::Semicolon, _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action7::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::Item((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""rank""###.to_string(),
                    r###""num_ranks""###.to_string(),
                    r###"";""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state130<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Comma, _)) |
            Some((_, Token::OpenBrace, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action13::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::RankNumbers((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"",""###.to_string(),
                    r###""{""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state131<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action129::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Placement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state132<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action130::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Placement((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state133<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action90::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Operands((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state134<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBracket, _)) |
            Some((_, Token::At, _)) => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action91::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Pieces((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"int"###.to_string(),
                    r###"",""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state135<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Sign, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action126::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Peer((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state136<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::To, _)) |
            Some((_, Token::From, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::CloseBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym3.2.clone();
                let __nt = super::__action148::<>(builder, __sym0, __sym1, __sym2, __sym3);
                let __nt = __Nonterminal::Piece((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""to""###.to_string(),
                    r###""from""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""]""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym3.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state137<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Gpu, __loc2)) => {
                let __sym5 = (__loc1, (__tok), __loc2);
                __result = __state41(builder, __tokens, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""gpu""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym4.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state138<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action134::<>(builder, __sym0);
                let __nt = __Nonterminal::Root((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state139<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action149::<>(builder, __sym0);
                let __nt = __Nonterminal::Root((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state140<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, Token, usize),
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Int(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::Comma, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::OpenBracket, _)) |
            Some((_, Token::At, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action89::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Operands((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"int"###.to_string(),
                    r###"";""###.to_string(),
                    r###"",""###.to_string(),
                    r###""}""###.to_string(),
                    r###""[""###.to_string(),
                    r###""@""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state141<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        __sym1: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action47::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Attributes((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state142<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action53::<>(builder, __sym0);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state143<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, __tok @ Token::Any, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state145(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, Token::Int(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state146(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            Some((__loc1, __tok @ Token::Negative, __loc2)) => {
                let __sym1 = (__loc1, (__tok), __loc2);
                __result = __state147(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""any""###.to_string(),
                    r###"int"###.to_string(),
                    r###"negative"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state144<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((__loc1, Token::Word(__tok0), __loc2)) => {
                let __sym1 = (__loc1, (__tok0), __loc2);
                __result = __state43(builder, __tokens, __sym0, __sym1, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###"word"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym0.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state145<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action99::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state146<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u64, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action98::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state147<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, Token, usize),
        __sym1: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym1.2.clone();
                let __nt = super::__action142::<>(builder, __sym0, __sym1);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym1.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state148<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Stream, __loc2)) => {
                let __sym7 = (__loc1, (__tok), __loc2);
                __result = __state44(builder, __tokens, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""stream""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym6.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state149<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, Token, usize),
        __sym1: (usize, u32, usize),
        __sym2: (usize, (), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::With, _)) |
            Some((_, Token::Tag, _)) |
            Some((_, Token::Cpu, _)) |
            Some((_, Token::Nic, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym2.2.clone();
                let __nt = super::__action102::<>(builder, __sym0, __sym1, __sym2);
                let __nt = __Nonterminal::Attribute((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""with""###.to_string(),
                    r###""tag""###.to_string(),
                    r###""cpu""###.to_string(),
                    r###""nic""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym2.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state150<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        __sym7: (usize, Token, usize),
        __sym8: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::Seq, __loc2)) => {
                let __sym9 = (__loc1, (__tok), __loc2);
                __result = __state45(builder, __tokens, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, __sym8, __sym9, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""seq""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym8.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state151<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __lookahead: Option<(usize, Token, usize)>,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        __sym7: (usize, Token, usize),
        __sym8: (usize, (usize, u64), usize),
        __sym9: (usize, Token, usize),
        __sym10: (usize, (usize, u64), usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        match __lookahead {
            Some((__loc1, __tok @ Token::End, __loc2)) => {
                let __sym11 = (__loc1, (__tok), __loc2);
                __result = __state152(builder, __tokens, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, __sym8, __sym9, __sym10, __sym11, core::marker::PhantomData::<(&())>)?;
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""end""###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym10.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }

    fn __state152<
        'a,
        __TOKENS: Iterator<Item=Result<(usize, Token, usize),__lalrpop_util::ParseError<usize, Token, &'static str>>>,
    >(
        builder: &mut Builder<'a>,
        __tokens: &mut __TOKENS,
        __sym0: (usize, u32, usize),
        __sym1: (usize, (usize, u64), usize),
        __sym2: (usize, Token, usize),
        __sym3: (usize, Token, usize),
        __sym4: (usize, (usize, u64), usize),
        __sym5: (usize, Token, usize),
        __sym6: (usize, (usize, u64), usize),
        __sym7: (usize, Token, usize),
        __sym8: (usize, (usize, u64), usize),
        __sym9: (usize, Token, usize),
        __sym10: (usize, (usize, u64), usize),
        __sym11: (usize, Token, usize),
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Result<(Option<(usize, Token, usize)>, __Nonterminal<>), __lalrpop_util::ParseError<usize, Token, &'static str>>
    {
        let mut __result: (Option<(usize, Token, usize)>, __Nonterminal<>);
        let __lookahead = match __tokens.next() {
            Some(Ok(v)) => Some(v),
            Some(Err(e)) => return Err(e),
            None => None,
        };
        match __lookahead {
            Some((_, Token::Send, _)) |
            Some((_, Token::Recv, _)) |
            Some((_, Token::Calc, _)) |
            Some((_, Token::Exec, _)) |
            Some((_, Token::Nop, _)) |
            Some((_, Token::Requ, _)) |
            Some((_, Token::Init, _)) |
            Some((_, Token::Expect, _)) |
            Some((_, Token::Scratch, _)) |
            Some((_, Token::Coll, _)) |
            Some((_, Token::Nccl(_), _)) |
            Some((_, Token::LabelDef(_), _)) |
            Some((_, Token::Waiter(_), _)) |
            Some((_, Token::Semicolon, _)) |
            Some((_, Token::CloseBrace, _)) |
            Some((_, Token::Plain(_), _)) |
            Some((_, Token::PlainDependency(_), _)) |
            Some((_, Token::Batch(_), _)) |
            None => {
                let __start = __sym0.0.clone();
                let __end = __sym11.2.clone();
                let __nt = super::__action104::<>(builder, __sym0, __sym1, __sym2, __sym3, __sym4, __sym5, __sym6, __sym7, __sym8, __sym9, __sym10, __sym11);
                let __nt = __Nonterminal::Collective((
                    __start,
                    __nt,
                    __end,
                ));
                __result = (__lookahead, __nt);
                return Ok(__result);
            }
            _ => {
                #[allow(clippy::needless_raw_string_hashes)]
                let __expected = alloc::vec![
                    r###""send""###.to_string(),
                    r###""recv""###.to_string(),
                    r###""calc""###.to_string(),
                    r###""exec""###.to_string(),
                    r###""nop""###.to_string(),
                    r###""requ""###.to_string(),
                    r###""init""###.to_string(),
                    r###""expect""###.to_string(),
                    r###""scratch""###.to_string(),
                    r###""coll""###.to_string(),
                    r###"nccl"###.to_string(),
                    r###"label_def"###.to_string(),
                    r###"waiter"###.to_string(),
                    r###"";""###.to_string(),
                    r###""}""###.to_string(),
                    r###"plain"###.to_string(),
                    r###"plain_dependency"###.to_string(),
                    r###"batch"###.to_string(),
                ];
                return Err(
                    match __lookahead {
                        Some(__token) => {
                            __lalrpop_util::ParseError::UnrecognizedToken {
                                token: __token,
                                expected: __expected,
                            }
                        }
                        None => {
                            let __location = __sym11.2.clone();
                            __lalrpop_util::ParseError::UnrecognizedEof {
                                location: __location,
                                expected: __expected,
                            }
                        }
                    }
                )
            }
        }
    }
}
#[allow(unused_imports)]
pub use self::__parse__Text::TextParser;

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action0<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action1<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action2<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action3<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
    (_, __1, _): (usize, (), usize),
    (_, __2, _): (usize, (), usize),
    (_, __3, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action4<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action5<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action6<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.num_ranks(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action7<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, Token, usize),
    (_, __2, _): (usize, (), usize),
    (_, __3, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action8<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action9<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, (), usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.begin_block(e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action10<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
)
{
    builder.every_rank(s)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action11<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action12<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action13<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, Token, usize),
    (_, __2, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action14<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, Option<Token>, usize),
    (_, s, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.rank(s, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action15<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.end_block(e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action16<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action17<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action18<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action19<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action20<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action21<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action22<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action23<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, p, _): (usize, Plain, usize),
)
{
    builder.plain(s, p)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action24<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, d, _): (usize, PlainDependency, usize),
)
{
    builder.plain_dependency(s, d)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action25<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, b, _): (usize, u8, usize),
)
{
    builder.batch(b)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action26<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
)
{
    builder.label(s, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action27<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, (), usize),
    (_, _, _): (usize, Token, usize),
    (_, p, _): (usize, Peer, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.send(s, p)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action28<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, (), usize),
    (_, _, _): (usize, Token, usize),
    (_, p, _): (usize, Peer, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.recv(s, p)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action29<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.calc(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action30<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.exec(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action31<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.user(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action32<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
)
{
    builder.nop(s)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action33<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action34<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, k, _): (usize, (usize, u32), usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
    (_, g, _): (usize, (usize, u64), usize),
    (_, i, _): (usize, (usize, u64), usize),
    (_, r, _): (usize, Option<u32>, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.group_collective(s, k, (at, n), [g, i], r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action35<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, k, _): (usize, u32, usize),
    (_, n, _): (usize, (usize, u64), usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, Token, usize),
    (_, c, _): (usize, (usize, u64), usize),
    (_, _, _): (usize, Token, usize),
    (_, g, _): (usize, (usize, u64), usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, (usize, u64), usize),
    (_, _, _): (usize, Token, usize),
    (_, q, _): (usize, (usize, u64), usize),
    (_, _, _): (usize, Token, usize),
)
{
    builder.nccl_collective(s, k, n, [c, g, t, q])
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action36<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
) -> (usize, u32)
{
    (at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action37<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
) -> (usize, u64)
{
    (at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action38<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
) -> Option<u32>
{
    builder.root(s, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action39<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
) -> Option<u32>
{
    builder.no_root(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action40<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.pattern(s, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action41<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action42<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
) -> Peer
{
    builder.peer(s, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action43<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
) -> Peer
{
    Peer::Any(s)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action44<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
) -> Peer
{
    builder.negative_peer(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action45<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, r, _): (usize, Sign, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
) -> Peer
{
    builder.relative_peer(r, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action46<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action47<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action48<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.tag(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action49<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, _, _): (usize, Token, usize),
)
{
    builder.any_tag(s)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action50<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.negative_tag(s, at, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action51<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
)
{
    builder.with(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action52<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
    (_, _, _): (usize, (), usize),
)
{
    builder.with(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action53<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action54<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action55<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action56<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.cpu(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action57<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.nic(s, at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action58<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action59<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, Option<Token>, usize),
    (_, __2, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action60<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action61<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, (), usize),
    (_, _, _): (usize, (), usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.end_vector(e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action62<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
)
{
    builder.begin_vector(s)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action63<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action64<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, Option<Token>, usize),
    (_, __2, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action65<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, a, _): (usize, u64, usize),
    (_, _, _): (usize, Token, usize),
    (_, n, _): (usize, u64, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.piece(s, a, n, e, Space::Memory)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action66<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, a, _): (usize, u64, usize),
    (_, _, _): (usize, Token, usize),
    (_, n, _): (usize, u64, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.piece(s, a, n, e, Space::Scratch)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action67<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, a, _): (usize, u32, usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, usize, usize),
    (_, b, _): (usize, u32, usize),
)
{
    builder.depend(DependencyKind::Completion, (s, a), (t, b))
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action68<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, a, _): (usize, u32, usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, usize, usize),
    (_, b, _): (usize, u32, usize),
)
{
    builder.depend(DependencyKind::Start, (s, a), (t, b))
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action69<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, Token, usize),
    (_, s, _): (usize, usize, usize),
    (_, a, _): (usize, u32, usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, usize, usize),
    (_, b, _): (usize, u32, usize),
)
{
    builder.depend(DependencyKind::Completion, (s, a), (t, b))
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action70<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
    builder.end_datum()
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action71<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, n, _): (usize, u64, usize),
)
{
    builder.scratch(at, n)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action72<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, a, _): (usize, u64, usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
)
{
    builder.begin_datum(false, s, (at, a), (t, n))
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action73<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, at, _): (usize, usize, usize),
    (_, a, _): (usize, u64, usize),
    (_, _, _): (usize, Token, usize),
    (_, t, _): (usize, usize, usize),
    (_, n, _): (usize, u32, usize),
)
{
    builder.begin_datum(true, s, (at, a), (t, n))
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action74<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action75<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, (), usize),
    (_, __1, _): (usize, (), usize),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action76<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, u64, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.value(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action77<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.value(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action78<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, Token, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.value(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action79<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, s, _): (usize, usize, usize),
    (_, _, _): (usize, u32, usize),
    (_, e, _): (usize, usize, usize),
)
{
    builder.value(s, e)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action80<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
) -> Option<Token>
{
    Some(__0)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action81<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
) -> Option<Token>
{
    None
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action82<
    'a,
>(
    builder: &mut Builder<'a>,
    (_, __0, _): (usize, Token, usize),
) -> Option<Token>
{
    Some(__0)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action83<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
) -> Option<Token>
{
    None
}

#[allow(unused_variables)]
#[allow(clippy::needless_lifetimes)]
fn __action84<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
) -> usize
{
    *__lookbehind
}

#[allow(unused_variables)]
#[allow(clippy::needless_lifetimes)]
fn __action85<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
) -> usize
{
    *__lookahead
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action86<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action87<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, usize, usize),
    __2: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action82(
        builder,
        __0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action14(
        builder,
        __temp0,
        __1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action88<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, usize, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action83(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action14(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action89<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, (), usize),
    __1: (usize, Token, usize),
    __2: (usize, (), usize),
)
{
    let __start0 = __1.0.clone();
    let __end0 = __1.2.clone();
    let __temp0 = __action80(
        builder,
        __1,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action59(
        builder,
        __0,
        __temp0,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action90<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, (), usize),
    __1: (usize, (), usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __temp0 = __action81(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action59(
        builder,
        __0,
        __temp0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action91<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, (), usize),
    __1: (usize, Token, usize),
    __2: (usize, (), usize),
)
{
    let __start0 = __1.0.clone();
    let __end0 = __1.2.clone();
    let __temp0 = __action80(
        builder,
        __1,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action64(
        builder,
        __0,
        __temp0,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action92<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, (), usize),
    __1: (usize, (), usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __temp0 = __action81(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action64(
        builder,
        __0,
        __temp0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action93<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action86(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action46(
        builder,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action94<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action86(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action4(
        builder,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action95<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action86(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action54(
        builder,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action96<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action86(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action16(
        builder,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action97<
    'a,
>(
    builder: &mut Builder<'a>,
    __lookbehind: &usize,
    __lookahead: &usize,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action86(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action74(
        builder,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action98<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action48(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action99<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, Token, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action49(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action100<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, Token, usize),
    __2: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action50(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action101<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action51(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action102<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u32, usize),
    __2: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action52(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action103<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, (usize, u32), usize),
    __2: (usize, u64, usize),
    __3: (usize, (usize, u64), usize),
    __4: (usize, (usize, u64), usize),
    __5: (usize, Option<u32>, usize),
    __6: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __1.2.clone();
    let __end1 = __2.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action34(
        builder,
        __temp0,
        __0,
        __1,
        __temp1,
        __2,
        __3,
        __4,
        __5,
        __6,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action104<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
    __1: (usize, (usize, u64), usize),
    __2: (usize, Token, usize),
    __3: (usize, Token, usize),
    __4: (usize, (usize, u64), usize),
    __5: (usize, Token, usize),
    __6: (usize, (usize, u64), usize),
    __7: (usize, Token, usize),
    __8: (usize, (usize, u64), usize),
    __9: (usize, Token, usize),
    __10: (usize, (usize, u64), usize),
    __11: (usize, Token, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action35(
        builder,
        __temp0,
        __0,
        __1,
        __2,
        __3,
        __4,
        __5,
        __6,
        __7,
        __8,
        __9,
        __10,
        __11,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action105<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
) -> (usize, u32)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action36(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action106<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
    __2: (usize, Token, usize),
    __3: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __start2 = __2.2.clone();
    let __end2 = __3.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    let __temp2 = __action85(
        builder,
        &__start2,
        &__end2,
    );
    let __temp2 = (__start2, __temp2, __end2);
    __action72(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
        __temp2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action107<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
    __2: (usize, Token, usize),
    __3: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __start2 = __2.2.clone();
    let __end2 = __3.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    let __temp2 = __action85(
        builder,
        &__start2,
        &__end2,
    );
    let __temp2 = (__start2, __temp2, __end2);
    __action73(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
        __temp2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action108<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action71(
        builder,
        __0,
        __temp0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action109<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
    __1: (usize, Token, usize),
    __2: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __1.2.clone();
    let __end1 = __2.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action67(
        builder,
        __temp0,
        __0,
        __1,
        __temp1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action110<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
    __1: (usize, Token, usize),
    __2: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __1.2.clone();
    let __end1 = __2.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action68(
        builder,
        __temp0,
        __0,
        __1,
        __temp1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action111<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u32, usize),
    __2: (usize, Token, usize),
    __3: (usize, u32, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __start1 = __2.2.clone();
    let __end1 = __3.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action69(
        builder,
        __0,
        __temp0,
        __1,
        __2,
        __temp1,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action112<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action6(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action113<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action26(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action114<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
) -> (usize, u64)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action37(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action115<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action62(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action116<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, (), usize),
    __2: (usize, Token, usize),
    __3: (usize, Peer, usize),
    __4: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action27(
        builder,
        __temp0,
        __0,
        __1,
        __2,
        __3,
        __4,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action117<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, (), usize),
    __2: (usize, Token, usize),
    __3: (usize, Peer, usize),
    __4: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action28(
        builder,
        __temp0,
        __0,
        __1,
        __2,
        __3,
        __4,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action118<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
    __2: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action29(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action119<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u32, usize),
    __2: (usize, Token, usize),
    __3: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action30(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action120<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, Token, usize),
    __2: (usize, u64, usize),
    __3: (usize, Token, usize),
    __4: (usize, (), usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __1.2.clone();
    let __end1 = __2.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action31(
        builder,
        __temp0,
        __0,
        __1,
        __temp1,
        __2,
        __3,
        __4,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action121<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action32(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action122<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action40(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action123<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
) -> Peer
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action42(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action124<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
) -> Peer
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action43(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action125<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, usize, usize),
) -> Peer
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action44(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action126<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Sign, usize),
    __1: (usize, u64, usize),
) -> Peer
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action45(
        builder,
        __0,
        __temp0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action127<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
    __1: (usize, Token, usize),
    __2: (usize, u64, usize),
    __3: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action65(
        builder,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action128<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
    __2: (usize, Token, usize),
    __3: (usize, u64, usize),
    __4: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action66(
        builder,
        __temp0,
        __0,
        __1,
        __2,
        __3,
        __4,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action129<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action56(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action130<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __start1 = __0.2.clone();
    let __end1 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    let __temp1 = __action85(
        builder,
        &__start1,
        &__end1,
    );
    let __temp1 = (__start1, __temp1, __end1);
    __action57(
        builder,
        __temp0,
        __0,
        __temp1,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action131<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action10(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action132<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __1.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action87(
        builder,
        __0,
        __temp0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action133<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action88(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action134<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
) -> Option<u32>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action38(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action135<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, usize, usize),
) -> Option<u32>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action39(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action136<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Plain, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action23(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action137<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, PlainDependency, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action24(
        builder,
        __temp0,
        __0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action138<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
    __1: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action76(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action139<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action77(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action140<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action78(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action141<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
    __1: (usize, usize, usize),
)
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action85(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action79(
        builder,
        __temp0,
        __0,
        __1,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action142<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, Token, usize),
)
{
    let __start0 = __1.2.clone();
    let __end0 = __1.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action100(
        builder,
        __0,
        __1,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action143<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action144<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, (), usize),
)
{
    let __start0 = __1.2.clone();
    let __end0 = __1.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action9(
        builder,
        __0,
        __1,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action145<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, (), usize),
    __1: (usize, (), usize),
    __2: (usize, Token, usize),
)
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action61(
        builder,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action146<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
) -> Peer
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action125(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action147<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
    __1: (usize, Token, usize),
    __2: (usize, u64, usize),
)
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action127(
        builder,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action148<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
    __1: (usize, u64, usize),
    __2: (usize, Token, usize),
    __3: (usize, u64, usize),
)
{
    let __start0 = __3.2.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action128(
        builder,
        __0,
        __1,
        __2,
        __3,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action149<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
) -> Option<u32>
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action135(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action150<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u64, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action138(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action151<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action139(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action152<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, Token, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action140(
        builder,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action153<
    'a,
>(
    builder: &mut Builder<'a>,
    __0: (usize, u32, usize),
)
{
    let __start0 = __0.2.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action84(
        builder,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action141(
        builder,
        __0,
        __temp0,
    )
}

#[allow(clippy::type_complexity, dead_code)]
pub trait __ToTriple<'a, >
{
    fn to_triple(self) -> Result<(usize,Token,usize), __lalrpop_util::ParseError<usize, Token, &'static str>>;
}

impl<'a, > __ToTriple<'a, > for (usize, Token, usize)
{
    fn to_triple(self) -> Result<(usize,Token,usize), __lalrpop_util::ParseError<usize, Token, &'static str>> {
        Ok(self)
    }
}
impl<'a, > __ToTriple<'a, > for Result<(usize, Token, usize), &'static str>
{
    fn to_triple(self) -> Result<(usize,Token,usize), __lalrpop_util::ParseError<usize, Token, &'static str>> {
        self.map_err(|error| __lalrpop_util::ParseError::User { error })
    }
}
