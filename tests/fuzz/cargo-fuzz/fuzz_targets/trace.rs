#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    goal_fuzz::trace(bytes);
});
