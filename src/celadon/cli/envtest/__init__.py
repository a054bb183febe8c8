"""A folder of programs that tests of operators start in place of envtest's binaries.

Such tests start `etcd` and `kube-apiserver` of the folder that KUBEBUILDER_ASSETS names, with flags
of their own making. Read `asset_folders` (which release a version means, and how the folder is
made), then the three programs: `apiserver_program` becomes `celadon serve`, and says what each flag
of kube-apiserver means here; `etcd_program` answers that it is healthy, `kubectl_program` runs the
kubectl of the user.
"""
