/* C++ file streams, as libraries use them. */
#include <cstring>
#include <fstream>
#include <iomanip>
#include <string>

extern "C" int use_cpp_streams(const char *path)
{
    {
        std::ofstream file(path, std::ios::binary);
        std::string block(10007, 'x');
        for (int i = 0; i < 20; i++)
            file << std::setw(6) << i << block;
    }
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(50000);
        file << "middle";
    }
    {
        std::ofstream file(path, std::ios::app);
        file << "the end";
    }
    std::ifstream file(path, std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::string tail("the end");
    return all.size() == 20 * 10013 + tail.size() && all.compare(50000, 6, "middle") == 0;
}
