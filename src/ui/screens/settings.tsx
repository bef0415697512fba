import type { Signal } from '@preact/signals';
import { useUi } from '../context';
import { Name } from '../parts/text';

/** What can be chosen so far, and what Holdfast promises. */
export function Settings() {
  const { texts, snapshot, preferences } = useUi();
  return (
    <div class="page">
      <section>
        <h2>{texts.me}</h2>
        <dl class="card facts">
          <dt>{texts.writingAs}</dt>
          <dd>
            <Name name={snapshot.value.nick ?? ''} />
          </dd>
        </dl>
      </section>
      <section>
        <h2>{texts.look}</h2>
        <div class="card">
          <Choice label={texts.theme} choice={preferences.theme} words={texts.themeIs} />
          <Choice label={texts.enterKey} choice={preferences.enter} words={texts.enterIs} />
          <p class="hint">{texts.enterHint}</p>
        </div>
      </section>
      <section>
        <h2>{texts.about}</h2>
        <ul class="card promises">
          <li>{texts.aboutKept}</li>
          <li>{texts.tellsOrder}</li>
          <li>{texts.tellsWord}</li>
          <li>{texts.tellsRecall}</li>
        </ul>
      </section>
      <section class="keys">
        <h2>{texts.keys}</h2>
        <dl class="card facts">
          {Object.entries(texts.keyList).map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}

/** One choice of a few. */
function Choice<T extends string>(props: {
  label: string;
  choice: Signal<T>;
  words: Readonly<Record<T, string>>;
}) {
  const values = Object.keys(props.words) as T[];
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select
        value={props.choice.value}
        onChange={(event) => {
          const chosen = values.find((value) => value === event.currentTarget.value);
          if (chosen) props.choice.value = chosen;
        }}
      >
        {values.map((value) => (
          <option key={value} value={value}>
            {props.words[value]}
          </option>
        ))}
      </select>
    </label>
  );
}
