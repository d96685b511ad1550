/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define NCURSES_WIDECHAR 1
#include "agent/terminal/curses_screen.h"

#include <curses.h>
#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/scope.h"

#define LIBRARY	    "libncursesw.so.6"
#define ESCAPE_MS   50 /* a key's sequence follows its escape within that time */
#define COLUMNS_MAX 1000
#define ROWS_MAX    1000
#define CODES_MAX   0x110000

/* Functions of the library, of which the macros of curses.h would use variables. */
#define CURSES_FUNCTIONS(F)                                                                        \
	F(newterm)                                                                                 \
	F(cbreak)                                                                                  \
	F(noecho)                                                                                  \
	F(keypad)                                                                                  \
	F(nodelay)                                                                                 \
	F(set_escdelay)                                                                            \
	F(curs_set)                                                                                \
	F(start_color)                                                                             \
	F(use_default_colors)                                                                      \
	F(init_pair)                                                                               \
	F(has_colors)                                                                              \
	F(resizeterm)                                                                              \
	F(wget_wch)                                                                                \
	F(wmove)                                                                                   \
	F(waddnstr)                                                                                \
	F(wclrtoeol)                                                                               \
	F(wclrtobot)                                                                               \
	F(wbkgdset)                                                                                \
	F(wattr_set)                                                                               \
	F(wrefresh)                                                                                \
	F(endwin)                                                                                  \
	F(tigetstr)

#define CURSES_POINTER(name) __typeof__(&name) name##_;
static struct {
	CURSES_FUNCTIONS(CURSES_POINTER)
	WINDOW **window; /* stdscr */
	bool utf8;
	bool colours;
	uint32_t rows, columns;
} curses;

int curses_screen_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return -ENOSYS;
#define CURSES_LOOK_UP(name)                                                                       \
	curses.name##_ = (__typeof__(curses.name##_))dlsym(library, #name);                        \
	if (!curses.name##_)                                                                       \
		return -ENOSYS;
	CURSES_FUNCTIONS(CURSES_LOOK_UP)
	curses.window = dlsym(library, "stdscr");
	return curses.window ? 0 : -ENOSYS;
}

/* --- opening --------------------------------------------------------------------------- */

/* Colours of the terminal's own palette; -1 is its own foreground or background. */
static void choose_colours(void)
{
	const char *refused = getenv("NO_COLOR");

	curses.colours = !(refused && *refused) && curses.has_colors_() &&
			 curses.start_color_() == OK && curses.use_default_colors_() == OK;
	if (!curses.colours)
		return;
	curses.init_pair_(TOP_CYAN, COLOR_CYAN, -1);
	curses.init_pair_(TOP_YELLOW, COLOR_YELLOW, -1);
	curses.init_pair_(TOP_GREEN, COLOR_GREEN, -1);
}

/* A locale without UTF-8 gets ASCII: a table for its characters would be a file to read later. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	curses.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!curses.utf8)
		setlocale(LC_CTYPE, "C");
}

void curses_screen_size(uint32_t *ret_rows, uint32_t *ret_columns)
{
	*ret_rows = curses.rows;
	*ret_columns = curses.columns;
}

static void read_size(void)
{
	struct winsize size;

	curses.rows = 24;
	curses.columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	curses.rows = size.ws_row < ROWS_MAX ? size.ws_row : ROWS_MAX;
	curses.columns = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

int curses_screen_open(void)
{
	choose_locale();
	if (!curses.newterm_(NULL, stdout, stdin))
		return -ENOTTY;
	curses.cbreak_();
	curses.noecho_();
	curses.keypad_(*curses.window, TRUE);
	curses.nodelay_(*curses.window, TRUE);
	curses.set_escdelay_(ESCAPE_MS);
	curses.curs_set_(0);
	choose_colours();
	curses_screen_resize();
	return 0;
}

void curses_screen_resize(void)
{
	read_size();
	curses.resizeterm_((int)curses.rows, (int)curses.columns);
}

/* --- leaving --------------------------------------------------------------------------- */

/* Returns a capability of the terminal, NULL if it has none. */
static const char *capability(const char *name)
{
	const char *found = curses.tigetstr_(name);

	return found == (char *)-1 ? NULL : found;
}

size_t curses_screen_restoring(char *buf, size_t size_bytes)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *found = capability(names[i]);
		size_t bytes = found ? strlen(found) : 0;

		if (bytes > size_bytes - used)
			return 0;
		memcpy(buf + used, found ?: "", bytes);
		used += bytes;
	}
	return used;
}

void curses_screen_leave(bool modes)
{
	char restoring[256];
	size_t bytes;

	if (modes) {
		curses.endwin_();
		return;
	}
	bytes = curses_screen_restoring(restoring, sizeof(restoring));
	if (write(STDOUT_FILENO, restoring, bytes) < 0)
		return; /* the terminal is gone */
}

void curses_screen_enter(void)
{
	curses_screen_resize();
	curses.wrefresh_(*curses.window);
}

/* --- lines ----------------------------------------------------------------------------- */

static void set_style(enum top_style style)
{
	attr_t attributes = A_NORMAL;
	short pair = 0;

	if (style == TOP_SELECTED || style == TOP_STATUS)
		attributes = style == TOP_SELECTED ? A_REVERSE : A_BOLD;
	else if (style == TOP_BOLD)
		attributes = A_BOLD;
	else if (curses.colours && style != TOP_PLAIN)
		pair = (short)style;
	curses.wattr_set_(*curses.window, attributes, pair, NULL);
	curses.wbkgdset_(*curses.window, style == TOP_SELECTED ? A_REVERSE : A_NORMAL);
}

/* The line has no control characters (sink/write/columns.h). */
static void put_line(const struct top_line *line)
{
	const char *bytes = line->text.bytes.data;
	size_t size = line->text.bytes.size;
	char ascii[4 * COLUMNS_MAX];
	size_t used = 0;

	if (!curses.utf8) {
		for (size_t i = 0; i < size && used < sizeof(ascii); i++) {
			if ((bytes[i] & 0xc0) != 0x80)
				ascii[used++] = bytes[i] & 0x80 ? '?' : bytes[i];
		}
		bytes = ascii;
		size = used;
	}
	if (size)
		curses.waddnstr_(*curses.window, bytes, (int)size);
}

void curses_screen_show(const struct top_canvas *canvas)
{
	WINDOW *window = *curses.window;

	for (size_t i = 0; i < canvas->lines.size && i < curses.rows; i++) {
		const struct top_line *line = &canvas->lines.data[i];

		set_style(line->style);
		curses.wmove_(window, (int)i, 0);
		curses.wclrtoeol_(window);
		put_line(line);
	}
	set_style(TOP_PLAIN);
	if (canvas->lines.size < curses.rows) {
		curses.wmove_(window, (int)canvas->lines.size, 0);
		curses.wclrtobot_(window);
	}
	curses.wmove_(window, (int)curses.rows - 1, 0);
	curses.wrefresh_(window);
}

/* --- keys ------------------------------------------------------------------------------ */

uint32_t curses_screen_key(void)
{
	static const struct {
		int code;
		uint32_t key;
	} keys[] = {
		{KEY_UP, TOP_KEY_UP},	      {KEY_DOWN, TOP_KEY_DOWN},
		{KEY_LEFT, TOP_KEY_LEFT},     {KEY_RIGHT, TOP_KEY_RIGHT},
		{KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
		{KEY_ENTER, TOP_KEY_ENTER},   {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
		{KEY_BTAB, TOP_KEY_TAB_BACK},
	};
	wint_t code;
	int result = curses.wget_wch_(*curses.window, &code);

	if (result == OK)
		return (uint32_t)code < CODES_MAX ? (uint32_t)code : 0;
	if (result != KEY_CODE_YES)
		return CURSES_NO_KEY;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if ((int)code == keys[i].code)
			return keys[i].key;
	}
	return 0;
}
