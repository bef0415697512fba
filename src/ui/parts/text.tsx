import { useState } from 'preact/hooks';
import { useUi } from '../context';
import { folded, linked } from '../links';
import { visible } from '../names';

/** A name somebody chose, isolated; a stand-in when nothing of it can be seen. */
export function Name({ name }: { name: string }) {
  const { texts } = useUi();
  return visible(name) ? <bdi>{name}</bdi> : <span class="stand-in">{texts.noName}</span>;
}

/** The text of a message: its direction from its own letters, its links only of known kinds, folded when long. */
export function MessageText({ text }: { text: string }) {
  const { texts } = useUi();
  const [whole, setWhole] = useState(false);
  const short = folded(text);
  return (
    <>
      <div class="text" dir="auto">
        {linked(whole ? text : (short ?? text)).map((part) =>
          part.href === undefined ? (
            part.text
          ) : (
            <a href={part.href} target="_blank" rel="noopener noreferrer">
              {part.text}
            </a>
          ),
        )}
        {short !== undefined && !whole && '…'}
      </div>
      {short !== undefined && (
        <button type="button" class="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? texts.showLess : texts.showAll}
        </button>
      )}
    </>
  );
}
