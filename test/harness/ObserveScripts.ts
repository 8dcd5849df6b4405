/** Reports each script of the bundle that this process or thread loads (src/app/program/LoadBundle.mjs), and may replace its text. */
import vm from "node:vm"
import type { ScriptOptions } from "node:vm"

/** `observe` gets the file and the text of a script, and returns another text or undefined. */
export const observeScripts = (observe: (file: string, text: string) => string | undefined): void => {
  class ObservedScript extends vm.Script {
    readonly #isReplaced: boolean

    constructor(text: string, options: ScriptOptions) {
      const replaced = observe(String(options.filename), text)
      super(replaced ?? text, replaced === undefined ? options : { filename: options.filename })
      this.#isReplaced = replaced !== undefined
    }

    /** Code of a replaced text must not be kept for other processes. */
    override createCachedData(): NonSharedBuffer {
      if (this.#isReplaced) throw new Error("the text of this script was replaced by a test")
      return super.createCachedData()
    }
  }
  Object.assign(vm, { Script: ObservedScript })
}
