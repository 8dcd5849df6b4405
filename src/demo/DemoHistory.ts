/**
 * Two more changes of the demo's repository, so that every page of the dashboard has something to show: one without problems, and a draft, which is not
 * reviewed. They follow the demo's own change, whose result people wait for.
 */
import type { DemoChange } from "./DemoChange.ts"
import type { DemoForge } from "./DemoForge.ts"
import type { DemoPull } from "./DemoForgeState.ts"

const readme = "README.md"

/** Creates the pull requests without a delivery. */
export const createHistory = async (
  forge: DemoForge,
  { base, repository }: DemoChange,
  people: { readonly author: string; readonly maintainer: string }
): Promise<ReadonlyArray<DemoPull>> => {
  const text = base[readme] ?? ""
  const create = async (branch: string, title: string, files: Readonly<Record<string, string>>, draft: boolean) => {
    await forge.push(repository, { branch, from: "main", message: title, files })
    return forge.createPull(repository, {
      title,
      description: "",
      headBranch: branch,
      baseBranch: "main",
      author: draft ? people.author : people.maintainer,
      draft
    })
  }
  return [
    await create(
      "readme",
      "Say where the API is described",
      { [readme]: `${text}\nThe API of \`web/\` is described in \`docs/\`.\n` },
      false
    ),
    await create(
      "tracking",
      "Draft: track parcels by phone number",
      { "web/TRACKING.md": "# Tracking\n\nTo be written.\n" },
      true
    )
  ]
}

const targetNumber = /:pull_request:(\d+)$/

/** Returns whether an event is about one of these pull requests. */
export const concerns = (pulls: ReadonlyArray<DemoPull>, targetKey: string): boolean => {
  const number = Number(targetNumber.exec(targetKey)?.[1])
  return pulls.some((pull) => pull.number === number)
}
