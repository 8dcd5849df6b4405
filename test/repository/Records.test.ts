/**
 * A repository of records is one file. It is two where one would pass 250 lines, or where the definition of the admin API reads the records:
 * clients load it, and would load the SQL client with it.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { expect, it } from "vitest"

const maxLines = 250
const read = (file: string): string => readFileSync(file, "utf8")
const count = (file: string): number => read(file).split("\n").length - 1
const definition = globSync("src/admin/api/*.ts").map(read).join("\n")

it("repositories of one file have no second one", () => {
  const apart = globSync("src/store/**/Sql*.ts").filter((file) => {
    const contract = `src/store/${basename(file).replace("Sql", "")}`
    const isDefined = definition.includes(`/${basename(contract)}"`)
    return existsSync(contract) && !isDefined && count(file) + count(contract) <= maxLines
  })
  expect(apart).toEqual([])
})
