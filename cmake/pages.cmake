# Run by cmake --install: writes what the tool says about itself, manual pages and completions, and installs it where
# man and shells look. M4N_TOOL is the tool (behind an emulator where it is for another processor), M4N_PAGES a folder
# for the files, M4N_DATADIR and M4N_MANDIR where they go.
function(m4n_page file folder)
  execute_process(COMMAND ${M4N_TOOL} help ${ARGN} OUTPUT_FILE ${M4N_PAGES}/${file} COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  file(INSTALL ${M4N_PAGES}/${file} DESTINATION ${folder})
endfunction()

file(MAKE_DIRECTORY ${M4N_PAGES})
m4n_page(m4n ${M4N_DATADIR}/bash-completion/completions --completion bash)
m4n_page(_m4n ${M4N_DATADIR}/zsh/site-functions --completion zsh)
m4n_page(m4n.fish ${M4N_DATADIR}/fish/vendor_completions.d --completion fish)
m4n_page(m4n.1 ${M4N_MANDIR}/man1 --man)
execute_process(COMMAND ${M4N_TOOL} help OUTPUT_VARIABLE overview COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z]+" commands "${overview}")
foreach(command IN LISTS commands)
  string(STRIP ${command} command)
  m4n_page(m4n-${command}.1 ${M4N_MANDIR}/man1 ${command} --man)
endforeach()
