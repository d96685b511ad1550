// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Gets the recording of a live page's run from its server (user/agent/server/server_message.h).

const SIZE_BYTES = 8;
const UNAVAILABLE = 503;

/** Says why there is no recording, and what to do. */
export class NoRecording extends Error {}

/** Returns the recording as of now, complete. `ended`: the run has ended. Throws NoRecording. */
export async function recording(ended: boolean): Promise<Blob> {
	let response: Response, bytes: Blob;
	try {
		response = await fetch('recording', { cache: 'no-store' });
		bytes = await response.blob();
	} catch {
		throw new NoRecording(ended ? 'the run has ended. To keep one, use jitbpf record --live -o FILE.jitbpf'
			: 'the connection to jitbpf broke. Try again');
	}
	if (response.status === UNAVAILABLE)
		throw new NoRecording('others are saving it, or the run is ending. Try again');
	if (!response.ok)
		throw new NoRecording('another run of jitbpf has this address');
	if (bytes.size < SIZE_BYTES)
		throw new NoRecording('this run has none that can be read. Use jitbpf record --live -o FILE.jitbpf');
	const size = new DataView(await bytes.slice(0, SIZE_BYTES).arrayBuffer()).getBigUint64(0, true);
	if (size !== BigInt(bytes.size - SIZE_BYTES))
		throw new NoRecording('only a part of it came. Save it again');
	return bytes.slice(SIZE_BYTES);
}
