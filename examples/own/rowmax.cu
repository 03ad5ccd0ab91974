// The largest element of each row of a matrix: a warp a row. Lanes read the row in steps of 32 and reduce their maxima by shuffles.
__global__ void rowmax(const int *matrix, int *largest, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int found = matrix[row * columns + lane];
    for (int column = lane + 32; column < columns; column += 32)
        found = max(found, matrix[row * columns + column]);
    for (int distance = 16; distance > 0; distance /= 2)
        found = max(found, __shfl_xor_sync(0xffffffff, found, distance));
    if (lane == 0)
        largest[row] = found;
}
