"""AdmissionReviews of both versions: bytes to a request, a verdict to bytes. Pure."""
