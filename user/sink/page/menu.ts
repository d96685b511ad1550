// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The menu of a frame.

import type { FrameAct } from './keys';
import { byId, element, shortened } from './text';

export interface MenuItem { act: FrameAct; text: string; key: string }

const MARGIN = 8;

export class FrameMenu {
	private readonly box = byId('menu');

	constructor(back: () => void) {
		const { box } = this;
		box.addEventListener('keydown', event => {
			const items = [...box.querySelectorAll<HTMLElement>('button')], at = items.indexOf(document.activeElement as HTMLElement);
			if (event.key === 'Escape' || event.key === 'Tab') {
				this.hide();
				back();
			} else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
				items[(at + (event.key === 'ArrowDown' ? 1 : items.length - 1)) % items.length].focus();
			} else {
				return;
			}
			event.preventDefault();
			event.stopPropagation();
		});
		addEventListener('pointerdown', event => {
			if (!box.contains(event.target as Node))
				this.hide();
		});
	}

	show(title: string, items: MenuItem[], x: number, y: number, choose: (act: FrameAct) => void): void {
		const { box } = this;
		box.replaceChildren(element('strong', shortened(title, 60)), ...items.map(item => {
			const button = element('button', item.text, '', element('kbd', item.key));
			if (!item.key)
				button.lastChild!.remove();
			button.role = 'menuitem';
			button.addEventListener('click', () => {
				this.hide();
				choose(item.act);
			});
			return button;
		}));
		box.hidden = false;
		box.style.left = Math.max(MARGIN, Math.min(x, innerWidth - box.offsetWidth - MARGIN)) + 'px';
		box.style.top = Math.max(MARGIN, Math.min(y, innerHeight - box.offsetHeight - MARGIN)) + 'px';
		box.querySelector('button')!.focus();
	}

	hide(): void {
		this.box.hidden = true;
	}
}
