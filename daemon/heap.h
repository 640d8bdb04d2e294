#pragma once

namespace linkhealth {

/// A few threads with little to do: one heap for all of them. What a cycle takes and gives back stays with the process
/// (up to a limit), because to take it anew from the kernel each time costs more than what is done with it.
/// REQUIRES: called first of all.
void keep_memory_small();

/// Gives back the pages of code that only the start needed: configuration, the search for ports, the libraries' own
/// beginnings. They stay in the kernel's cache of the file; what is used again is mapped again, by itself.
void give_back_start();

}  // namespace linkhealth
