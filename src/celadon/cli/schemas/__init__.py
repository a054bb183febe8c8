"""What `celadon schema` shows: built-in kinds, packs, of OpenAPI documents and CRDs."""
