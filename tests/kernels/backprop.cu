// Training of a neural network's first layer. layerForward multiplies inputs with weights, and adds up 16 x 16 products a block
// in a tree along the columns; each block leaves partial sums. adjustWeights moves the weights by the error and the last change.
// After backprop of Rodinia: hierarchy thesis tables 4.2 and 4.3, sharing thesis tables 2.1, 2.4 and 4.3.
constexpr int SIZE = 16;
// Units and inputs for which there is room in shared memory.
#ifndef CAPACITY
#define CAPACITY SIZE
#endif

// Weights are [inputs + 1][hidden + 1]; row 0 and column 0 belong to the bias.
__global__ void layerForward(const float *input, const float *weight, float *partial, int hidden)
{
    __shared__ float node[CAPACITY];
    __shared__ float product[CAPACITY][CAPACITY];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * SIZE + ty + 1;

    if (tx == 0)
        node[ty] = input[row];
    __syncthreads();
    product[ty][tx] = weight[row * (hidden + 1) + tx + 1] * node[ty];
    __syncthreads();

    for (int distance = 1; distance < SIZE; distance *= 2) {
        if (ty % (2 * distance) == 0)
            product[ty][tx] += product[ty + distance][tx];
        __syncthreads();
    }

    if (ty == 0)
        partial[blockIdx.y * hidden + tx] = product[0][tx];
}

__global__ void adjustWeights(const float *delta, int hidden, const float *layer, float *weight, float *oldChange, float eta,
                              float momentum)
{
    int row = blockIdx.y * SIZE + threadIdx.y + 1;
    int column = threadIdx.x + 1;
    int index = row * (hidden + 1) + column;

    float change = eta * delta[column] * layer[row] + momentum * oldChange[index];
    weight[index] += change;
    oldChange[index] = change;

    // The bias' weights are row 0; its input is 1.
    if (threadIdx.y == 0 && blockIdx.y == 0) {
        change = eta * delta[column] + momentum * oldChange[column];
        weight[column] += change;
        oldChange[column] = change;
    }
}
