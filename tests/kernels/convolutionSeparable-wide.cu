// convolutionSeparable with the shared memory of sharing thesis table 2.2: 2560 bytes for rows (CONV1), 5184 for columns (CONV2).
#define PIXELS 8
#define ROWS_MARGIN ROWS_X
#include "convolutionSeparable.cu"
