/* Calls from Fortran, for MPI libraries whose Fortran functions call PMPI_X in C, as those of Open MPI.
 *
 * Their references to PMPI_X get the address of MPI_X, which may be a wrapper. So calls
 * from Fortran take the way of calls from C, for all names of a function (mpif.h, mpi, mpi_f08) and
 * all constants. The references lie in the tables from which the library's calls take addresses.
 *
 * Threats: none from outside. Only tables of libraries that the loader has mapped are written. */
#ifndef FORTRAN_OF_MPI_H
#define FORTRAN_OF_MPI_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_FUNCTION_REFERENCE(kind) ((kind) == R_X86_64_JUMP_SLOT || (kind) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_FUNCTION_REFERENCE(kind) ((kind) == R_AARCH64_JUMP_SLOT || (kind) == R_AARCH64_GLOB_DAT)
#else
#define IS_FUNCTION_REFERENCE(kind) 0
#endif

/* The libraries of Open MPI with its Fortran functions. */
static int is_fortran_of_mpi(const char *path) {
  return strstr(path, "/libmpi_mpifh.so") != NULL || strstr(path, "/libmpi_usempi") != NULL;
}

/* Returns 1 if the loader has made a place of a library read-only. */
static int is_read_only(const struct link_map *of, const void *place) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)of->l_addr;
  const ElfW(Phdr) *part = (const ElfW(Phdr) *)(of->l_addr + header->e_phoff);
  for (int at = 0; at < header->e_phnum; at++)
    if (part[at].p_type == PT_GNU_RELRO && (uintptr_t)place - of->l_addr - part[at].p_vaddr < part[at].p_memsz) return 1;
  return 0;
}

/* Stores an address in a table. */
static void set_reference(const struct link_map *of, uintptr_t *place, uintptr_t address) {
  uintptr_t page = (uintptr_t)place & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  size_t bytes = (uintptr_t)(place + 1) - page;
  int was_read_only = is_read_only(of, place);
  if (*place == address) return;
  if (was_read_only && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(place, address, __ATOMIC_RELEASE);
  if (was_read_only) mprotect((void *)page, bytes, PROT_READ);
}

static void redirect_table(const struct link_map *of, const ElfW(Sym) *symbols, const char *names,
                           const ElfW(Rela) *table, size_t bytes) {
  for (size_t at = 0; table && at < bytes / sizeof *table; at++) {
    const char *name = names + symbols[ELF64_R_SYM(table[at].r_info)].st_name;
    void *address;
    if (!IS_FUNCTION_REFERENCE(ELF64_R_TYPE(table[at].r_info)) || strncmp(name, "PMPI_", 5)) continue;
    address = dlsym(RTLD_DEFAULT, name + 1);
    if (address) set_reference(of, (uintptr_t *)(of->l_addr + table[at].r_offset), (uintptr_t)address);
  }
}

/* Lets the Fortran functions of the libraries that are loaded call MPI_X in place of PMPI_X. */
static void redirect_fortran(void) {
  struct link_map *first = NULL;
  void *self = dlopen(NULL, RTLD_LAZY);
  if (!self) return;
  dlinfo(self, RTLD_DI_LINKMAP, &first);
  for (const struct link_map *of = first; of; of = of->l_next) {
    const ElfW(Sym) *symbols = NULL;
    const ElfW(Rela) *calls = NULL, *data = NULL;
    const char *names = NULL;
    size_t calls_bytes = 0, data_bytes = 0;
    if (!is_fortran_of_mpi(of->l_name)) continue;
    for (const ElfW(Dyn) *at = of->l_ld; at->d_tag != DT_NULL; at++) switch (at->d_tag) {
        case DT_SYMTAB: symbols = (const ElfW(Sym) *)at->d_un.d_ptr; break;
        case DT_STRTAB: names = (const char *)at->d_un.d_ptr; break;
        case DT_JMPREL: calls = (const ElfW(Rela) *)at->d_un.d_ptr; break;
        case DT_PLTRELSZ: calls_bytes = at->d_un.d_val; break;
        case DT_RELA: data = (const ElfW(Rela) *)at->d_un.d_ptr; break;
        case DT_RELASZ: data_bytes = at->d_un.d_val; break;
        default: break;
      }
    if (!symbols || !names) continue;
    redirect_table(of, symbols, names, calls, calls_bytes);
    redirect_table(of, symbols, names, data, data_bytes);
  }
  dlclose(self);
}

#endif
