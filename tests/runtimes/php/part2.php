<?php
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
return function ($m) {
    return App\Model\helper([1, (int)$m],
        $GLOBALS['fromInclude']);
};
