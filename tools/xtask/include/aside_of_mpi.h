/* A preloaded library steps aside: the program's calls of MPI no longer pass its wrappers.
 *
 * Wrappers that are compiled for another MPI library must not even pass arguments on: an integer
 * handle cuts a pointer off. So references to wrappers get the addresses of the next functions with
 * their names. References lie in the tables from which objects take the addresses of functions.
 *
 * Threats: none from outside. Only tables of objects that the loader has mapped are written. */
#ifndef ASIDE_OF_MPI_H
#define ASIDE_OF_MPI_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NAMES_FUNCTION(kind) ((kind) == R_X86_64_JUMP_SLOT || (kind) == R_X86_64_GLOB_DAT || (kind) == R_X86_64_64)
#elif defined(__aarch64__)
#define NAMES_FUNCTION(kind) \
  ((kind) == R_AARCH64_JUMP_SLOT || (kind) == R_AARCH64_GLOB_DAT || (kind) == R_AARCH64_ABS64)
#else
#define NAMES_FUNCTION(kind) 0
#endif

/* Returns the object that an address lies in. */
static void *object_of(void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Stores an address in a table, which the loader may have made read-only. */
static void store_reference(const struct dl_phdr_info *object, uintptr_t *place, uintptr_t address) {
  uintptr_t page = (uintptr_t)place & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  size_t bytes = (uintptr_t)(place + 1) - page;
  int is_read_only = 0;
  for (int at = 0; at < object->dlpi_phnum; at++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[at];
    uintptr_t offset = (uintptr_t)place - object->dlpi_addr - part->p_vaddr;
    is_read_only |= part->p_type == PT_GNU_RELRO && offset < part->p_memsz;
  }
  if (is_read_only && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(place, address, __ATOMIC_RELEASE);
  if (is_read_only) mprotect((void *)page, bytes, PROT_READ);
}

/* Leads the references of one object past the object `own`. */
static int lead_past(struct dl_phdr_info *object, size_t size, void *own) {
  const ElfW(Dyn) *entry = NULL;
  const ElfW(Sym) *symbols = NULL;
  const ElfW(Rela) *tables[2] = {NULL, NULL};
  const char *names = NULL;
  size_t bytes[2] = {0, 0};
  (void)size;
  for (int at = 0; at < object->dlpi_phnum; at++)
    if (object->dlpi_phdr[at].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[at].p_vaddr);
  /* The object of the kernel keeps offsets in place of addresses. It has no table. */
  for (; entry && entry->d_tag != DT_NULL; entry++) switch (entry->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)entry->d_un.d_ptr; break;
      case DT_STRTAB: names = (const char *)entry->d_un.d_ptr; break;
      case DT_JMPREL: tables[0] = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
      case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
      case DT_RELA: tables[1] = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
      case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  for (int table = 0; symbols && names && table < 2; table++) {
    for (size_t at = 0; tables[table] && at < bytes[table] / sizeof(ElfW(Rela)); at++) {
      const ElfW(Rela) *of = &tables[table][at];
      const char *name = names + symbols[ELF64_R_SYM(of->r_info)].st_name;
      uintptr_t *place = (uintptr_t *)(object->dlpi_addr + of->r_offset);
      void *wrapper, *next;
      if (!NAMES_FUNCTION(ELF64_R_TYPE(of->r_info)) || strncmp(name, "MPI_", 4)) continue;
      wrapper = dlsym(RTLD_DEFAULT, name);
      next = dlsym(RTLD_NEXT, name);
      if (wrapper && next && object_of(wrapper) == own)
        store_reference(object, place, (uintptr_t)next + (uintptr_t)of->r_addend);
    }
  }
  return 0;
}

/* Leads all calls of MPI past this library. */
static void step_aside_of_mpi(void) { dl_iterate_phdr(lead_past, object_of((void *)lead_past)); }

#endif
