#pragma once

namespace linkhealth {

/// A few threads with little to do: one heap for all of them. What a cycle takes and gives back
/// stays with the process (up to a limit), because to take it anew from the kernel each time costs
/// more than what is done with it. REQUIRES: called first of all.
void keep_memory_small();

/// Gives back the pages of code that only the start or a search for ports needed: configuration,
/// the libraries' own beginnings. They stay in the kernel's cache of the file; what is used again
/// is mapped again, by itself, some 40 page faults.
void give_back_rare_code();

}  // namespace linkhealth
