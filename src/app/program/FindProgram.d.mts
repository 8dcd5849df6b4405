/** Types of FindProgram.mjs. */
export interface Sources {
  readonly root: string
  /** Path in `root`, size in bytes, and time of change in whole seconds. */
  readonly files: ReadonlyArray<readonly [string, number, number]>
}
/** Returns the URL of the module that exports `main`. `root`: the folder of the installation. */
export declare const findProgram: (root: string) => { readonly isBundled: boolean; readonly url: string }
