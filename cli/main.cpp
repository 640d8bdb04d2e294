#include "cli/arguments.h"

int main(int argc, char** argv) {
  const linkhealth::cli::LocalCommands local;
  return linkhealth::cli::run(argc, argv, local);
}
