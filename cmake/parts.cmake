# The libraries that the program uses and libocdm does not: oneDNN for networks, libjpeg-turbo and libpng for images,
# zlib and libzstd for compressed records, threads.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_path(DNNL_INCLUDE dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)

add_library(ocdm_parts INTERFACE)
target_include_directories(ocdm_parts SYSTEM INTERFACE ${DNNL_INCLUDE} ${JPEG_INCLUDE_DIRS} ${PNG_INCLUDE_DIRS}
                           ${ZLIB_INCLUDE_DIRS} ${ZSTD_INCLUDE})
target_link_libraries(ocdm_parts INTERFACE ${DNNL_LIBRARY} ${JPEG_LIBRARIES} ${PNG_LIBRARIES} ${ZLIB_LIBRARIES} ${ZSTD_LIBRARY}
                      Threads::Threads)
