//! goal-asm
