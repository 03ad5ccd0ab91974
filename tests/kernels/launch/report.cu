// Prints: from both sides of a branch, from a loop, arguments of every kind.
#include <cstdio>

__global__ void report(const float *x, int n, int *returned) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int arguments;
    if (x[i] < 0)
        arguments = printf("x[%d] = %f is negative\n", i, x[i]);
    else
        arguments = printf("x[%03d] = %-9.3e|%+.2f|%g, %s, '%c', %lld, %#x\n", i, x[i], x[i], x[i], i & 1 ? "odd" : "even",
                           'a' + i % 26, (long long)i << 36, i * 4097);
    // One call, with a format that is chosen when it runs.
    printf(x[i] > 1 ? "  big\n" : "  small\n");
    for (int k = 0; k < i % 3; k++)
        printf("  %*d of %d\n", k + 2, k, i % 3);
    if (threadIdx.x == 0)
        printf("block %u: pi is %.10f, x[%d] is %a at %p; %hd, %hhu, 100%%\n", blockIdx.x, 3.14159265358979, i, x[i], &x[i],
               (short)(40000 + i), (unsigned char)(300 + i));
    returned[i] = arguments;
}
