/** Types of Bundle.mjs. */
export interface Bundler {
  readonly rolldown: unknown
}
export declare const root: string
export declare const thread: string
export declare const loadBundler: () => Promise<Bundler | undefined>
export declare const bundle: (
  bundler: Bundler,
  dir: string,
  input: Readonly<Record<string, string>>,
  codeSplitting?: boolean
) => Promise<ReadonlyArray<string>>
