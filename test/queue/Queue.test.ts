import { conformance } from "./Conformance.ts"
import { inFolder, stores } from "./Stores.ts"

for (const store of stores) conformance(store.name, (limits) => inFolder(store, limits))
