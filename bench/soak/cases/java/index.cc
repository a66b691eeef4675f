// The index of words that Index.java uses: maps, strings and vectors of C++.
#include <jni.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Entry {
  std::string word;
  std::vector<jint> places;
};

class Words {
 public:
  void add(std::string word, jint place) {
    auto& entry = by_word_[word];
    if (entry == nullptr) {
      entry = std::make_unique<Entry>(Entry{std::move(word), {}});
      by_size_.emplace(-static_cast<long>(entry->word.size()), entry.get());
    }
    entry->places.push_back(place);
  }

  const Entry* find(const std::string& word) const {
    const auto found = by_word_.find(word);
    return found == by_word_.end() ? nullptr : found->second.get();
  }

  const auto& by_size() const { return by_size_; }

 private:
  std::unordered_map<std::string, std::unique_ptr<Entry>> by_word_;
  std::multimap<long, const Entry*> by_size_;
};

Words& words_of(jlong index) { return *reinterpret_cast<Words*>(index); }

std::string text_of(JNIEnv* env, jstring string) {
  const char* chars = env->GetStringUTFChars(string, nullptr);
  std::string text = chars;
  env->ReleaseStringUTFChars(string, chars);
  return text;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_Index_create(JNIEnv*, jclass) {
  return reinterpret_cast<jlong>(new Words);
}

JNIEXPORT void JNICALL Java_Index_add(JNIEnv* env, jclass, jlong index, jstring word, jint place) {
  words_of(index).add(text_of(env, word), place);
}

JNIEXPORT jintArray JNICALL Java_Index_places(JNIEnv* env, jclass, jlong index, jstring word) {
  const Entry* entry = words_of(index).find(text_of(env, word));
  const auto count = entry == nullptr ? 0 : static_cast<jsize>(entry->places.size());
  jintArray places = env->NewIntArray(count);
  if (count != 0) env->SetIntArrayRegion(places, 0, count, entry->places.data());
  return places;
}

JNIEXPORT jstring JNICALL Java_Index_longest(JNIEnv* env, jclass, jlong index, jint count) {
  std::string text;
  for (const auto& [size, entry] : words_of(index).by_size()) {
    if (count-- == 0) break;
    text += entry->word + ' ';
  }
  return env->NewStringUTF(text.c_str());
}

JNIEXPORT jobject JNICALL Java_Index_packed(JNIEnv* env, jclass, jlong index) {
  std::vector<char> bytes;
  for (const auto& [size, entry] : words_of(index).by_size())
    bytes.insert(bytes.end(), entry->word.begin(), entry->word.end());
  void* copy = std::malloc(bytes.size());
  std::memcpy(copy, bytes.data(), bytes.size());
  return env->NewDirectByteBuffer(copy, static_cast<jlong>(bytes.size()));
}

JNIEXPORT void JNICALL Java_Index_refuse(JNIEnv* env, jclass, jlong, jstring why) {
  env->ThrowNew(env->FindClass("java/lang/IllegalStateException"), text_of(env, why).c_str());
}

JNIEXPORT void JNICALL Java_Index_drop(JNIEnv*, jclass, jlong index) {
  delete reinterpret_cast<Words*>(index);
}

JNIEXPORT void JNICALL Java_Index_release(JNIEnv* env, jclass, jobject buffer) {
  std::free(env->GetDirectBufferAddress(buffer));
}

}  // extern "C"
