/** Types of Bundle.mjs. */
export interface Bundler {
  readonly rolldown: unknown
}
export declare const root: string
export declare const loadBundler: () => Promise<Bundler | undefined>
export declare const bundleScript: (
  bundler: Bundler,
  dir: string,
  input: Readonly<Record<string, string>>
) => Promise<ReadonlyArray<string>>
