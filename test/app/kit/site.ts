import { join } from 'node:path';
import { serve } from '../../../src/serve.mjs';
import { ensureBuilt, root } from '../../../src/setup.mjs';
import { freePort } from './relay';

/** An origin that serves files: the built app, or a folder of a test. It can go away and come back as the same origin. */
export class Site {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #server: Awaited<ReturnType<typeof serve>> | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Serves a folder on a free port. */
  static async open(folder: string): Promise<Site> {
    const site = new Site(folder, await freePort());
    await site.comeBack();
    return site;
  }

  /** Serves the app, built if its sources changed. */
  static async ofApp(): Promise<Site> {
    if (!(await ensureBuilt())) throw new Error('the app could not be built');
    return Site.open(join(root, 'dist/app'));
  }

  /** Stops serving; resolves when the origin is seen to refuse. */
  async goAway(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
    const answered = await fetch(this.url).then(
      () => true,
      () => false,
    );
    if (answered) throw new Error(`${this.url} still answers`);
  }

  /** Serves again, on the same port. */
  async comeBack(): Promise<void> {
    this.#server = await serve({ folder: this.#folder, port: this.#port });
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
