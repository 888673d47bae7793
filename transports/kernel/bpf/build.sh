#!/bin/sh
# Builds the committed object from the engine's sources, and notes their hash. Needs clang 14 or
# later and LLVM's tools. The object names no folder of the machine that it is built on.
set -eu
cd "$(dirname "$0")/.."
: "${CLANG:=clang}" "${OBJCOPY:=llvm-objcopy}"
out=${1:-bpf/engine.o}
"$CLANG" -O2 -g -target bpf -mcpu=v3 -Wall -Werror -Wno-unused-function \
	-fdebug-compilation-dir=. -ffile-prefix-map="$PWD/=" -c bpf/engine.c -o "$out"
"$OBJCOPY" --strip-debug --remove-section .rel.BTF --remove-section .rel.BTF.ext \
	--remove-section .llvm_addrsig "$out"
[ $# -eq 0 ] || exit 0
cat bpf/*.h bpf/engine.c | sha256sum | cut -d ' ' -f 1 > bpf/engine.sha256
"$CLANG" --version | head -n 1 >> bpf/engine.sha256
