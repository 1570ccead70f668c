/** How the lines of a text end. An editor that knows it writes back every byte it was given. */

/** What a new line of this text ends with: CRLF where every line does; else LF, and a CR is a character like any other. */
export const lineBreakOf = (text: string): string => (text.includes('\n') && !/(^|[^\r])\n/.test(text) ? '\r\n' : '\n');

/** A text from elsewhere, its lines ended as those around it. */
export const withLineBreak = (text: string, lineBreak: string): string => text.replace(/\r\n?|\n/g, lineBreak);
