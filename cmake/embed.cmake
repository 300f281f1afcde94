# Writes text files, one after another, as a C array that ends with a NUL:
# cmake -DNAME=array -DINPUT=a.txt,b.txt -DOUTPUT=array.c -P embed.cmake
string(REPLACE "," ";" files ${INPUT})
foreach(file ${files})
  file(READ ${file} more HEX)
  string(APPEND bytes ${more})
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0x00};\n")
