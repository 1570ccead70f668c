/** Which addresses in a text that people write are followed, and which pictures are loaded. */

/** Nothing that runs, and no address that only looks like one of this instance. */
export const isSafeAddress = (address: string): boolean => /^(https?:|mailto:|#|\/(?!\/))/i.test(address);

/** A file of this instance. A picture from elsewhere would tell its server who reads the text, and when. */
export const isOwnPicture = (address: string): boolean => /^\/api\/repo-obj\/[0-9a-f-]{36}\/content(\?version=\d+)?$/i.test(address);
