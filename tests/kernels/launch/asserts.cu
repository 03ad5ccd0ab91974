// Asserts that no number is 13.
#include <cassert>

namespace numbers {
__global__ void check(const int *x, int n) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    assert(i < n);
    assert(x[i] != 13 && "an unlucky number");
}
}  // namespace numbers
