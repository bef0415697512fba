import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useUi } from '../context';
import { Icon, type IconName } from './icons';

/** A button with an icon alone: its name is read, and shown on a pointing device. */
export function IconButton(props: { icon: IconName; name: string; onClick: () => void; class?: string }) {
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ''}`}
      aria-label={props.name}
      title={props.name}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** A one-line field with its label, its help and what is wrong with it. */
export function Field(props: {
  label: string;
  value: string;
  onInput: (text: string) => void;
  hint?: string;
  problem?: string | undefined;
  optional?: boolean;
  kind?: 'url' | 'secret';
  focus?: boolean;
  note?: string | undefined;
}) {
  const { texts } = useUi();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (props.focus) input.current?.focus();
  }, [props.focus]);
  // The field takes the focus when something is wrong with it, so that the sentence is read with it.
  useLayoutEffect(() => {
    if (props.problem) input.current?.focus();
  }, [props.problem]);
  return (
    <div class="field">
      <label for={id}>
        {props.label}
        {props.optional && <span class="optional"> · {texts.optional}</span>}
        {props.note && <span class="note">{props.note}</span>}
      </label>
      <input
        id={id}
        ref={input}
        data-first={props.focus}
        class={props.kind === 'secret' ? 'code' : ''}
        type="text"
        inputMode={props.kind === 'url' ? 'url' : 'text'}
        dir={props.kind ? 'ltr' : 'auto'}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={props.value}
        aria-invalid={props.problem !== undefined}
        aria-describedby={`${id}-hint ${id}-problem`}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <p class="problem" id={`${id}-problem`} role={props.problem ? 'alert' : undefined}>
        {props.problem && (
          <>
            <Icon name="warn" /> <span>{props.problem}</span>
          </>
        )}
      </p>
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** A sheet over the screen: full on a phone, a dialog on a desktop. Closing it goes up one screen. */
export function Sheet({ title, children }: { title: string; children: ComponentChildren }) {
  const { router, texts } = useUi();
  const dialog = useRef<HTMLDialogElement>(null);
  const leaving = useRef(false);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    element.showModal();
    // The keyboard's way out is Escape, which the dialog has by itself; this is the pointer's.
    const outside = (event: MouseEvent) => {
      if (event.target === element) router.up();
    };
    element.addEventListener('click', outside);
    // Without a field the browser's own choice, the close button, is right.
    element.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      leaving.current = true;
      element.removeEventListener('click', outside);
      // Closed before it is taken away, so that the browser gives the focus back to where it was.
      element.close();
    };
  }, [router]);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      onClose={() => {
        if (!leaving.current) router.up();
      }}
    >
      <div class="sheet-body">
        <div class="sheet-head">
          <h2>{title}</h2>
          <IconButton icon="close" name={texts.close} onClick={() => router.up()} />
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** The bar at the top of a screen: the way up, its heading, and what can be done here. */
export function Bar(props: { children: ComponentChildren; actions?: ComponentChildren; home?: boolean }) {
  const { texts, router } = useUi();
  return (
    <header class="bar">
      {!props.home && <IconButton icon="back" name={texts.back} class="up" onClick={() => router.up()} />}
      {props.children}
      <div class="bar-actions">{props.actions}</div>
    </header>
  );
}
