/** A stretch of a message: plain words, or words that lead somewhere. */
export interface Part {
  readonly text: string;
  readonly href?: string;
}

const candidate = /\b(?:https?:\/\/|mailto:)[^\s<>"\u2066-\u2069\u202a-\u202e]+/giu;
const trailing = /[.,;:!?'")\]}»”’]+$/u;
const linksMax = 200;

/** Takes closing marks off the end of a link, but keeps a bracket that was opened inside it. */
function trim(link: string): string {
  let end = link.replace(trailing, '');
  if (link[end.length] === ')' && end.split('(').length > end.split(')').length) end = `${end})`;
  return end;
}

/** Cuts `text` into plain parts and links of http, https and mailto; nothing else is ever a link. */
export function linked(text: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(candidate)) {
    if (parts.length > linksMax) break;
    const link = trim(match[0]);
    if (!URL.canParse(link)) continue;
    const { protocol, href } = new URL(link);
    if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'mailto:') continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index) });
    parts.push({ text: link, href });
    from = match.index + link.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

/** Lines a message may fill before it is folded. */
const foldLines = 20;
/** Characters that fill about as many lines in the message column. */
const foldCharacters = 1_400;

/** The first lines of a long text, or `undefined` when it is short enough to be shown whole. */
export function folded(text: string): string | undefined {
  let end = -1;
  for (let line = 0; line < foldLines; line++) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) break;
  }
  const byLines = end < 0 ? text.length : end;
  const cut = Math.min(byLines, foldCharacters);
  // A fold that hides only a few words would be in the way.
  if (text.length - cut < 80 && byLines === text.length) return undefined;
  if (cut >= text.length) return undefined;
  const code = text.charCodeAt(cut - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? cut - 1 : cut);
}
