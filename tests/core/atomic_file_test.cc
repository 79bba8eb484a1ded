// A file appears whole or not at all; failures leave the old file and no temporary one; devices are written to.
#include "core/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "m4n/error.h"
#include "support/temp_dir.h"

namespace m4n::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Lets write() fail with EFBIG beyond `bytes`, as a full disk would, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_{};
};

TEST(AtomicFile, CreatesAndReplaces) {
  const test::TempDir dir;
  const std::string path = dir / "file", bytes("a\0b\n", 4);
  write_file_atomically(path, bytes);
  EXPECT_EQ(content(path), bytes);
  write_file_atomically(path, "");
  EXPECT_EQ(content(path), "");
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(AtomicFile, WorksInTheCurrentDirectory) {
  const test::TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  write_file_atomically("plain", "x");
  std::filesystem::current_path(before);
  EXPECT_EQ(content(dir / "plain"), "x");
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  const test::TempDir dir;
  const std::string path = dir / "file", link = dir / "link";
  write_file_atomically(path, "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("file", link);
  write_file_atomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content(path), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(AtomicFile, LinksThatLeadNowhereYetAreFollowed) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  std::filesystem::create_symlink("folder/file", dir / "link");
  std::filesystem::create_symlink("link", dir / "other");
  write_file_atomically(dir / "other", "x");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "other"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(content(dir / "folder/file"), "x");
  std::filesystem::create_symlink("b", dir / "a");
  std::filesystem::create_symlink("a", dir / "b");
  EXPECT_THAT([&] { write_file_atomically(dir / "a", "x"); }, ThrowsMessage<Error>(HasSubstr("symbolic links")));
  std::filesystem::create_symlink("missing/file", dir / "lost");
  EXPECT_THROW(write_file_atomically(dir / "lost", "x"), Error);
}

// A writer that is killed leaves a temporary file. The next writer of the same file removes it, and no other one's.
TEST(AtomicFile, WhatTheKilledLeftIsRemoved) {
  const test::TempDir dir;
  const auto killed_while_writing = [](const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
      AtomicFile file(path);
      file.write(std::string(100'000, 'x'));
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  };
  killed_while_writing(dir / "one");
  killed_while_writing(dir / "one");
  EXPECT_EQ(dir.entries(), 1U) << "the second writer removes what the first one left";
  killed_while_writing(dir / "two");
  EXPECT_EQ(dir.entries(), 2U);
  AtomicFile living(dir / "one");
  living.write(std::string(100'000, 'y'));
  write_file_atomically(dir / "one", "x");
  EXPECT_EQ(content(dir / "one"), "x");
  living.finish();
  EXPECT_EQ(content(dir / "one").size(), 100'000U);
  write_file_atomically(dir / "two", "x");
  EXPECT_EQ(dir.entries(), 2U);
}

TEST(AtomicFile, NewFilesFollowTheUmask) {
  const test::TempDir dir;
  const mode_t before = ::umask(027);
  write_file_atomically(dir / "file", "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((dir / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(AtomicFile, RefusesWhatCannotBeWritten) {
  const test::TempDir dir;
  const std::string missing = dir / "missing/file";
  EXPECT_THAT([&] { write_file_atomically(missing, "x"); },
              ThrowsMessage<Error>(AllOf(HasSubstr(missing), HasSubstr("No such file or directory"))));
  EXPECT_THAT([&] { write_file_atomically(dir.path(), "x"); },
              ThrowsMessage<Error>(AllOf(HasSubstr(dir.path()), HasSubstr("is a directory"))));
  write_file_atomically(dir / "file", "x");
  EXPECT_THAT([&] { write_file_atomically(dir / "file/below", "x"); },
              ThrowsMessage<Error>(HasSubstr("Not a directory")));
  EXPECT_THROW(write_file_atomically("", "x"), Error);
  EXPECT_THROW(write_file_atomically("/dev/fd/987654", "x"), Error);
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  const test::TempDir dir;
  const std::string path = dir / "file";
  write_file_atomically(path, "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THAT([&] { write_file_atomically(path, std::string(5000, 'x')); },
                ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr("File too large"))));
    EXPECT_THROW(write_file_atomically(dir / "another", std::string(5000, 'x')), Error);
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(dir.entries(), 1U) << "a temporary file was left behind";
}

// Root may write everywhere, so root becomes nobody while this lives.
class NotRoot {
 public:
  explicit NotRoot(const std::string& folder) : was_root_(::geteuid() == 0) {
    constexpr uid_t nobody = 65534;
    if (was_root_ && (::chown(folder.c_str(), nobody, static_cast<gid_t>(-1)) != 0 || ::seteuid(nobody) != 0))
      throw std::runtime_error("root cannot become nobody");
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST(AtomicFile, ReadOnlyFilesAndFoldersAreRespected) {
  const test::TempDir dir;
  const NotRoot user(dir.path());
  const std::string path = dir / "file";
  write_file_atomically(path, "old");
  ::chmod(path.c_str(), 0444);
  EXPECT_THAT([&] { write_file_atomically(path, "new"); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr("Permission denied"))));
  ::chmod(dir.path().c_str(), 0555);
  EXPECT_THAT([&] { write_file_atomically(dir / "b", "x"); }, ThrowsMessage<Error>(HasSubstr("Permission denied")));
  ::chmod(dir.path().c_str(), 0755);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(AtomicFile, DevicesAreWrittenToAndStay) {
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT([] { write_file_atomically("/dev/full", "x"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("/dev/full"), HasSubstr("No space left on device"))));
}

TEST(AtomicFile, PipesAreWrittenTo) {
  const test::TempDir dir;
  const std::string path = dir / "pipe", bytes(300000, 'y');
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content(path); });
  write_file_atomically(path, bytes);
  reader.join();
  EXPECT_EQ(received, bytes);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

// Opening /dev/fd/N anew would start at the beginning and overwrite what is there.
TEST(AtomicFile, NamedDescriptorsKeepTheirPosition) {
  const test::TempDir dir;
  const std::string path = dir / "file";
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(number, 0);
  ASSERT_EQ(::write(number, "first ", 6), 6);
  write_file_atomically("/dev/fd/" + std::to_string(number), "second");
  ::close(number);
  EXPECT_EQ(content(path), "first second");
}

TEST(AtomicFile, ManyWritersAtOnceLeaveOneWholeFile) {
  const test::TempDir dir;
  const std::string path = dir / "file";
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 20; ++i) write_file_atomically(path, std::string(1000, static_cast<char>('a' + w)));
    });
  for (std::thread& writer : writers) writer.join();
  const std::string bytes = content(path);
  ASSERT_EQ(bytes.size(), 1000U);
  EXPECT_EQ(bytes, std::string(1000, bytes[0]));
  EXPECT_EQ(dir.entries(), 1U);
}

}  // namespace
}  // namespace m4n::detail
