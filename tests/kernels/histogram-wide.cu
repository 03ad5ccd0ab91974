// histogram256 with the shared memory of sharing thesis table 3.3: 9216 bytes, more than its blocks of 192 threads use.
#define WARPS256 9
#include "histogram.cu"
