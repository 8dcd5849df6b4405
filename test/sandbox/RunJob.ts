/** A service that runs one program in a sandbox, to the end. Its argument is the fixture, the kind and the program, its output the outcome. */
import { makeDrivers } from "../../src/sandbox/drivers/SandboxKinds.ts"
import { requestOver, run } from "./Fixture.ts"
import type { Fixture } from "./Fixture.ts"

const { config, installation, limits, place, program } = JSON.parse(process.argv[2] ?? "")
const fixture: Fixture = { ...place, request: requestOver(place), close: () => Promise.resolve() }
const kind = { config, installation, drivers: makeDrivers(process.env) }
process.stdout.write(`${JSON.stringify(await run(fixture, kind, program, limits))}\n`)
