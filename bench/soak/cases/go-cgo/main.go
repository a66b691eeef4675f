// Goroutines share out rounds of work whose objects are C's: trees of words, lists and strings.
package main

/*
#include <stdlib.h>
#include <string.h>

struct word {
  struct word *left, *right;
  char *text;
  long count;
};

static struct word *make_word(const char *text) {
  struct word *word = calloc(1, sizeof *word);
  word->text = strdup(text);
  word->count = 1;
  return word;
}

static void add_word(struct word **tree, const char *text) {
  while (*tree != NULL) {
    int order = strcmp(text, (*tree)->text);
    if (order == 0) {
      ++(*tree)->count;
      return;
    }
    tree = order < 0 ? &(*tree)->left : &(*tree)->right;
  }
  *tree = make_word(text);
}

static unsigned long sum_of(const struct word *tree, unsigned long sum) {
  if (tree == NULL) return sum;
  sum = sum_of(tree->left, sum);
  for (const char *c = tree->text; *c != 0; ++c) sum = sum * 31 + (unsigned char)*c;
  return sum_of(tree->right, sum * 7 + (unsigned long)tree->count);
}

static void drop(struct word *tree) {
  if (tree == NULL) return;
  drop(tree->left);
  drop(tree->right);
  free(tree->text);
  free(tree);
}

struct link {
  struct link *next;
  long value;
};

static unsigned long sort_links(unsigned seed, int count) {
  struct link *all = NULL;
  unsigned long sum = 0;
  for (int i = 0; i < count; ++i) {
    struct link *link = malloc(sizeof *link);
    struct link **at = &all;
    seed = seed * 1103515245 + 12345;
    link->value = seed >> 16;
    for (int hops = 0; *at != NULL && (*at)->value < link->value && hops < 200; ++hops)
      at = &(*at)->next;
    link->next = *at;
    *at = link;
  }
  while (all != NULL) {
    struct link *link = all;
    all = link->next;
    sum = sum * 31 + (unsigned long)link->value;
    free(link);
  }
  return sum;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// Words that C allocates, another goroutine's thread frees.
func round(number int, trees chan<- *C.struct_word) uint64 {
	var tree *C.struct_word
	for i := 0; i < 3000; i++ {
		text := C.CString("word" + strconv.Itoa((i*i*7+number*13)%1500))
		C.add_word(&tree, text)
		C.free(unsafe.Pointer(text))
	}
	sum := uint64(C.sum_of(tree, C.ulong(number)))
	trees <- tree
	return sum*31 + uint64(C.sort_links(C.uint(number), 2000))
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	sums := make([]uint64, rounds*8)
	trees := make(chan *C.struct_word, 4)
	dropped := make(chan int)
	go func() {
		count := 0
		for tree := range trees {
			C.drop(tree)
			count++
		}
		dropped <- count
	}()
	var all sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for at := worker; at < len(sums); at += 8 {
				sums[at] = round(at, trees)
				if at%64 == worker {
					runtime.GC()
				}
			}
		}(worker)
	}
	all.Wait()
	close(trees)
	fmt.Println(<-dropped, "trees")
	for at, sum := range sums {
		fmt.Println(at, sum)
	}
	C.exit(0) // Go's own end runs no destructors, which report what was grouped
}
