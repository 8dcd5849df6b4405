/** The number of passes of agent CLIs that run at a time. */
import { expect, it } from "vitest"
import { countPasses } from "../../../src/agent/clis/CliAgents.ts"

const gib = 1_073_741_824

it.each([
  ["the machine, where nothing limits the process", 4 * gib, 0, 4],
  ["the limit of the process", 24 * gib, 2.5 * gib, 2],
  ["the machine, where the limit is higher", 3 * gib, 9_223_372_036_854_771_712, 3],
  ["at least one", 24 * gib, gib / 4, 1],
  ["at most eight", 64 * gib, 0, 8]
])("follows %s", (_, machine, limit, expected) => expect(countPasses(machine, limit)).toBe(expected))
