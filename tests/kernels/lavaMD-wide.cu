// lavaMD with the shared memory of sharing thesis table 2.2: 7200 bytes.
#define MAX_PARTICLES 225
#include "lavaMD.cu"
