// kube_cel compiles and evaluates the expressions of a file with the compiler of kube-apiserver's
// admission policies, when it is told to, and says how long each took: see kube_cel.py.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

type accessor struct{ text string }

func (a accessor) GetExpression() string    { return a.text }
func (a accessor) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType} }

type activation map[string]any

func (a activation) ResolveName(name string) (any, bool) { value, found := a[name]; return value, found }
func (a activation) Parent() interpreter.Activation      { return nil }

type expression struct {
	Name   string
	Text   string
	Inputs json.RawMessage
}

type answer struct {
	Seconds map[string]float64 `json:"seconds"`
	Costs   map[string]uint64  `json:"costs"`
}

func processor() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// least is what one call takes, the least of some samples of so many calls.
func least(samples, calls int, call func()) float64 {
	found := 1e9
	for range samples {
		begun := processor()
		for range calls {
			call()
		}
		found = min(found, (processor()-begun)/float64(calls))
	}
	return found
}

func main() {
	runtime.GOMAXPROCS(1) // what the collector does counts, too
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var expressions []expression
	if err := json.Unmarshal(text, &expressions); err != nil {
		panic(err)
	}
	compiler := plugincel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	declared := plugincel.OptionalVariableDeclarations{HasParams: true, HasAuthorizer: true}
	compile := func(one expression) cel.Program {
		result := compiler.CompileCELExpression(accessor{one.Text}, declared, environment.NewExpressions)
		if result.Error != nil {
			panic(one.Name + ": " + result.Error.Error())
		}
		return result.Program
	}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		found := answer{map[string]float64{}, map[string]uint64{}}
		for _, one := range expressions {
			if commands.Text() == "compile" {
				found.Seconds[one.Name] = least(5, 10, func() { compile(one) })
				continue
			}
			program, inputs := compile(one), activation{}
			if err := utiljson.Unmarshal(one.Inputs, (*map[string]any)(&inputs)); err != nil {
				panic(err)
			}
			_, details, err := program.ContextEval(context.Background(), inputs)
			if err != nil {
				panic(one.Name + ": " + err.Error())
			}
			found.Costs[one.Name] = *details.ActualCost()
			found.Seconds[one.Name] = least(4, 200, func() { program.ContextEval(context.Background(), inputs) })
		}
		written, _ := json.Marshal(found)
		fmt.Println(string(written))
	}
}
