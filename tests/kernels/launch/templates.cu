// Integers only: kernels whose names need more than an identifier. Overloads, templates with types and numbers, namespaces, and one that is local to its
// file; and a kernel in double precision, which none of the launches needs. Not after a paper.
namespace app {
    template <typename T, int BY> __global__ void scale(T *data, int count)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count)
            data[i] = data[i] * BY + 1;
    }

    __global__ void mix(unsigned *data, unsigned salt)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        data[i] = (data[i] ^ salt) * 2654435761u;
    }

    __global__ void mix(unsigned *data, const unsigned *salts)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        data[i] = (data[i] + salts[i]) ^ data[i] >> 7;
    }
}

static __global__ void reverse(unsigned *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count / 2) {
        unsigned other = data[count - 1 - i];
        data[count - 1 - i] = data[i];
        data[i] = other;
    }
}

template __global__ void app::scale<unsigned, 3>(unsigned *, int);
template __global__ void app::scale<unsigned, 5>(unsigned *, int);
template __global__ void app::scale<short, 3>(short *, int);
template __global__ void app::scale<double, 3>(double *, int);

// nvcc keeps a kernel that is local to its file only if something launches it.
void launch(unsigned *data, int count) { reverse<<<1, 64>>>(data, count); }
