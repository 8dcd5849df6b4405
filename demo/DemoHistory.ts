/**
 * More of the demo's repository, so that every page of the dashboard has something to show: a change without problems, a draft, which is not reviewed,
 * and a commit that waits in the queue. They follow the demo's own change, whose result people wait for.
 */
import type { DemoChange } from "./DemoChange.ts"
import type { DemoForge } from "./DemoForge.ts"
import { git } from "./DemoForgeGit.ts"
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

/** Pushes a commit to the main branch, whose review waits for the window of automatic commits. */
export const pushToMain = async (
  forge: DemoForge,
  { base, repository: name }: DemoChange,
  maintainer: string
): Promise<void> => {
  const repository = forge.repository(name)
  const before = (await git(repository.directory, ["rev-parse", "main"])).trim()
  const after = await forge.push(name, {
    branch: "main",
    message: "Name the owner of the service",
    files: { [readme]: `${base[readme] ?? ""}\nOwner: the parcels team\n` }
  })
  await forge.send(
    forge.delivery({ kind: "push", repository, branch: "main", before, after, sender: forge.user(maintainer) })
  )
}

const targetNumber = /:pull_request:(\d+)$/

/** Returns whether an event is about one of these pull requests. */
export const concerns = (pulls: ReadonlyArray<DemoPull>, targetKey: string): boolean => {
  const number = Number(targetNumber.exec(targetKey)?.[1])
  return pulls.some((pull) => pull.number === number)
}
