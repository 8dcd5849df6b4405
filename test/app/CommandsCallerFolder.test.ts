import { expect, it } from "vitest"
import { findCallerFolder } from "../../src/app/Commands.ts"

const root = "/opt/aicr"
const own = `${root}/package.json`

it.each<readonly [string, Readonly<Record<string, string>>, string | undefined]>([
  ["a script of this package", { INIT_CWD: "/home/ada/shop", npm_package_json: own }, "/home/ada/shop"],
  [
    "a script of another package",
    { INIT_CWD: "/home/ada", npm_package_json: "/home/ada/shop/package.json" },
    undefined
  ],
  ["a script without a caller", { npm_package_json: own }, undefined],
  ["a script with an empty caller", { INIT_CWD: "", npm_package_json: own }, undefined],
  ["no script", {}, undefined]
])("paths are relative to the folder of the caller: %s", (_, env, expected) => {
  expect(findCallerFolder(env, root)).toBe(expected)
})
