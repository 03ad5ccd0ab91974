// marchingCubes with the shared memory that sharing thesis 3.4.1.9 gives MC2: 13824 bytes, more than its blocks of 32 threads use.
#define CAPACITY 48
#include "marchingCubes.cu"
