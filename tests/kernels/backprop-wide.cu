// backprop with the shared memory of sharing thesis table 3.3: 9408 bytes, more than its blocks of 256 threads use.
#define CAPACITY 48
#include "backprop.cu"
