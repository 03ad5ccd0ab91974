// needle with tiles of 16 x 16, their rows so far apart that the cells of a diagonal, PITCH - 1 words one from the next, lie in
// different banks.
// After Needle of the hierarchy thesis, table 4.3 and figure 7.2.
#define PITCH (TILE + 2)
#include "needle.cu"
