# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The files with which kernel/test_docs.py runs the commands of README.md and docs/.

DOCS := $(B)/tests/docs
DOCS_PARTS := $(DOCS)/installed $(if $(AGENT),$(DOCS)/program.jar)

# An installation of jitbpf, so that the commands find it as those of a user do.
$(DOCS)/installed: $(B)/jitbpf $(B)/libjitbpf.so $(AGENT) $(B)/man/jitbpf.1 tools/install.sh
	$(call say,INSTALL,$(@D)/usr)
	$(Q)rm -rf $(@D)/usr && mkdir -p $(@D)
	$(Q)env -u DESTDIR $(MAKE) --no-print-directory install DESTDIR= PREFIX=$(abspath $(@D))/usr >/dev/null
	$(Q)touch $@

$(DOCS)/program.jar: tests/programs/workloads/Mixed.java
	$(call say,JAR,$@)
	$(Q)mkdir -p $(@D)/classes
	$(Q)javac -d $(@D)/classes $<
	$(Q)jar --create --file $@ --main-class Mixed -C $(@D)/classes .
